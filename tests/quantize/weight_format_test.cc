#include "quantize/weight_format.h"

#include "tests/support/catch.h"
#include "tests/support/error.h"

using namespace mlopt;
using namespace mlopt::quantize;

TEST_CASE("weight formats are printed as they were parsed, without what goes without saying") {
  for (const char* text :
       {"w1", "w8", "w4g32", "w3g48", "nf4", "nf4g32", "nf4channel", "fp4g128", "codebook2", "codebook8g256",
        "codebook8v4", "codebook3v2", "pot4", "ternary", "ternaryg64", "apot5g16", "fp8e4m3", "fp8e5m2g64"})
    CHECK(to_string(parse_weight_format(text).value()) == text);
  CHECK(to_string(parse_weight_format("w4channel").value()) == "w4");
  CHECK(to_string(parse_weight_format("nf4g64").value()) == "nf4");
  CHECK(parse_weight_format("nf4").value().group == 64);
  CHECK(parse_weight_format("w4").value().group == 0);
  for (const std::string& name : weight_format_names()) CHECK(to_string(parse_weight_format(name).value()) == name);
}

TEST_CASE("what is no weight format is none, and widths and groups that there are not are named") {
  for (const char* text :
       {"", "w", "w4x", "w4g", "w4g3x", "w4gg", "wide", "nf", "nf45", "fp8", "codebook", "codebook8v", "w4v2", "w8a8"})
    CHECK_FALSE(parse_weight_format(text).has_value());
  for (const char* text : {"w0", "w9", "w99999999999", "codebook1", "pot1", "apot9"}) {
    const std::string said = test::error_of([&] { parse_weight_format(text); });
    CHECK(test::contains(said, "no width"));
  }
  for (const char* text : {"codebook8v1", "codebook8v9"})
    CHECK(test::contains(test::error_of([&] { parse_weight_format(text); }), "vectors of a length"));
  CHECK(test::contains(test::error_of([&] { parse_weight_format("codebook8v4g32"); }), "the same for all"));
  for (const char* text : {"w4g0", "w4g1", "w4g-4"})
    CHECK(test::contains(test::error_of([&] { parse_weight_format(text); }), "less than two"));
}

TEST_CASE("8 bits are symmetric, fewer only when asked, and one bit is a sign") {
  CHECK(scheme_of(*parse_weight_format("w8g32"), false, false).symmetric);
  CHECK_FALSE(scheme_of(*parse_weight_format("w4"), false, false).symmetric);
  CHECK(scheme_of(*parse_weight_format("w4"), false, true).symmetric);
  CHECK(scheme_of(*parse_weight_format("w1"), false, false).table == std::vector<float>{-1, 1});
  CHECK(scheme_of(*parse_weight_format("ternary"), false, false).is_ternary());
  CHECK_FALSE(scheme_of(*parse_weight_format("w2"), false, false).is_ternary());
  CHECK(scheme_of(*parse_weight_format("w4g32"), true, false).group == 0);
  CHECK(scheme_of(*parse_weight_format("codebook3"), false, false).levels == Levels::kCodebook);
  CHECK(scheme_of(*parse_weight_format("apot6"), false, false).table.size() == 64);
}
