#include "core/data/unicode/characters.h"

#include "core/data/unicode/tables.h"
#include "tests/support/catch.h"

using namespace mlopt::unicode;

TEST_CASE("the tables are in increasing order") {
  const auto increasing = [](const auto& ranges, const auto& last) {
    for (size_t i = 1; i < ranges.size(); ++i) {
      if (ranges[i].first <= last(ranges[i - 1])) FAIL("range " << i << " is not behind the one before");
    }
    CHECK(ranges.size() > 10);
  };
  increasing(class_ranges(), [](const auto& r) { return r.last; });
  increasing(lower_ranges(), [](const auto& r) { return r.last; });
  increasing(order_ranges(), [](const auto& r) { return r.last; });
  increasing(base_ranges(), [](const auto& r) { return r.first + static_cast<char32_t>(r.count) - 1; });
  CHECK(ideographs().size() == 0xFADA - 0xF900);
  CHECK(more_ideographs().size() == 0x2FA1E - 0x2F800);
}

TEST_CASE("characters have the classes that Unicode gives them") {
  CHECK(class_of('a') == CharClass::kOther);
  CHECK(class_of(U'\u20ac') == CharClass::kOther);  // a currency is no punctuation,
  CHECK(class_of('$') == CharClass::kPunctuation);  // but for ASCII's
  CHECK(class_of(U'\u3002') == CharClass::kPunctuation);
  CHECK(class_of('\t') == CharClass::kSpace);
  CHECK(class_of(U'\u2028') == CharClass::kSpace);
  CHECK(class_of(0) == CharClass::kControl);
  CHECK(class_of(U'\u200b') == CharClass::kControl);
  CHECK(class_of(U'\ue000') == CharClass::kControl);
  CHECK(class_of(U'\ufffd') == CharClass::kControl);
  CHECK(class_of(U'\u0301') == CharClass::kMark);
  CHECK(class_of(U'\u034f') == CharClass::kStartingMark);
  CHECK(class_of(U'\u0903') == CharClass::kOther);  // a mark that takes space
  CHECK(class_of(0x10FFFF) == CharClass::kOther);
}

TEST_CASE("letters are put into lower case") {
  CHECK(lower('Z') == 'z');
  CHECK(lower('[') == '[');
  CHECK(lower(U'\u00c9') == U'\u00e9');
  CHECK(lower(U'\u03a3') == U'\u03c3');
  CHECK(lower(U'\u0130') == 'i');
  CHECK(lower(U'\u0178') == U'\u00ff');
  CHECK(lower(U'\u0100') == U'\u0101');
  CHECK(lower(U'\u0101') == U'\u0101');
  CHECK(lower(U'\u13a0') == U'\uab70');
  CHECK(lower(0x1E900) == 0x1E922);
}
