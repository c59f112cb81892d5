#include "core/data/tokenizers/charsmap.h"

#include <cstring>

#include "tests/support/catch.h"
#include "tests/support/thrown.h"

using namespace mlopt;

namespace {

/// A double array of 256 units with the rules "a" -> "x" and "ab" -> "yz", made by hand: the children of the root lie
/// at 0 ^ label, those of a node at its place ^ its offset.
struct Rules {
  std::vector<uint32_t> units = std::vector<uint32_t>(256, 0);
  std::string strings = std::string("x\0yz\0", 5);

  static uint32_t unit(uint32_t label, uint32_t offset, bool value) {
    return offset << 10 | (value ? 1U << 8 : 0) | label;
  }
  Rules() {
    constexpr uint32_t kA = 'a', kAChildren = 0x80, kB = kAChildren ^ 'b', kBChildren = 0xA0;
    units[kA] = unit('a', kA ^ kAChildren, true);
    units[kAChildren] = 0x80000000U | 0;  // the value of "a": its place in the strings
    units[kB] = unit('b', kB ^ kBChildren, true);
    units[kBChildren] = 0x80000000U | 2;
  }
  std::string bytes() const {
    std::string out(4 + 4 * units.size(), '\0');
    const auto size = static_cast<uint32_t>(4 * units.size());
    std::memcpy(out.data(), &size, 4);
    std::memcpy(out.data() + 4, units.data(), size);
    return out + strings;
  }
};

std::string match(const CharsMap& map, std::string_view text) {
  const auto rule = map.match(text);
  return rule ? std::to_string(rule->bytes) + " " + std::string(rule->by) : "none";
}

}  // namespace

TEST_CASE("the rule of the longest text is found") {
  const CharsMap map(Rules().bytes(), "m.model");
  CHECK(match(map, "a") == "1 x");
  CHECK(match(map, "aa") == "1 x");
  CHECK(match(map, "abc") == "2 yz");
  CHECK(match(map, "b") == "none");
  CHECK(match(map, "") == "none");
  CHECK(match(CharsMap("", "m.model"), "a") == "none");
}

TEST_CASE("damaged rules are bad input, never read beyond their end") {
  const auto damaged = [](const std::string& bytes, const char* text) {
    const Error error = test::thrown_by([&] { CharsMap(bytes, "m.model").match(text); });
    CHECK(error.code == Code::kBadInput);
    CHECK(test::says(error, "damaged: m.model"));
  };
  const std::string good = Rules().bytes();
  damaged(good.substr(0, 3), "a");
  damaged(good.substr(0, 100), "a");
  damaged(good.substr(0, good.size() - 1), "a");  // the last string does not end
  Rules beyond;
  beyond.units[0x80] = 0x80000000U | 5;
  damaged(beyond.bytes(), "a");
  Rules outside;
  outside.units['a'] = Rules::unit('a', 1U << 20, true);
  damaged(outside.bytes(), "a");
  Rules no_way_on;
  no_way_on.units['a'] = Rules::unit('a', 1U << 20, false);
  CHECK(match(CharsMap(no_way_on.bytes(), "m.model"), "ab") == "none");
}
