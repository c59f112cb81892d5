#include "cli/quantize/report.h"

#include "tests/support/catch.h"
#include "tests/support/error.h"

using namespace mlopt;

TEST_CASE("layers that the method did not round are counted by reason, and each is in the JSON") {
  quantize::Quantized made;
  const quantize::Spec spec = quantize::parse_spec("w4:method=brecq");
  Report plain;
  cli::report_made(made, spec, plain);
  CHECK_FALSE(plain.data.find("fell_back"));
  made.fell_back = {{"a", "to nearest, for it is odd"}, {"b", "to nearest, for it is odd"}, {"c", "by itself, for no"}};
  Report report;
  cli::report_made(made, spec, report);
  const std::string text = to_text(report);
  CHECK(test::contains(text, "brecq did not round a and 1 more: rounded to nearest, for it is odd"));
  CHECK(test::contains(text, "brecq did not round c: rounded by itself, for no"));
  CHECK(report.data["fell_back"].items().size() == 3);
  CHECK(test::contains(to_json(report), R"("layer": "b")"));
}
