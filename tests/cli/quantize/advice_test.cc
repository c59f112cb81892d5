#include "cli/quantize/advice.h"

#include "tests/support/catch.h"
#include "tests/support/error.h"

using namespace mlopt;

namespace {

/// Five layers of 1000 numbers in 10 rows.
quantize::Quantized five_layers(int64_t bytes) {
  quantize::Quantized made;
  made.output_error = 0.01;
  for (const char* layer : {"a", "b's", "c", "d", "e"}) {
    made.errors.push_back({layer, "MatMul", {}});
    made.errors.back().share = 0.1;
    quantize::StoredWeight& w = made.weights.emplace_back();
    w.layer = layer;
    w.elements = 1000, w.bytes = bytes, w.rows = 10;
  }
  return made;
}

Report advised(const quantize::Quantized& made, const std::string& spec, bool planned = false) {
  Report report;
  report.data["result"] = Json::object({{"size_bytes", 10000}});
  cli::report_advice(made, quantize::parse_spec(spec), planned, report);
  return report;
}

}  // namespace

TEST_CASE("layers that make much of the error are to be kept more exact, with what that costs") {
  quantize::Quantized made = five_layers(500);
  made.errors[1].share = 0.42;
  Report report = advised(made, "w4");
  CHECK(test::contains(
      to_text(report),
      R"(b's: 42 % of the outputs' error; keep it in 8 bits with --layer-plan '{"b'\''s": "w8"}': +5.4 % size)"));
  CHECK(test::contains(to_markdown(report), "keep it in 8 bits"));
  const Json& advice = report.data["advice"].items().at(0);
  CHECK(advice.find("size_percent")->number() == Approx(5.4));  // 1000 codes and 10 scales of 4 bytes, for 500
  CHECK(advice.find("layers")->items().at(0).find("error_share")->number() == Approx(0.42));

  made.errors[4].share = 0.45;
  CHECK(test::contains(
      to_text(advised(made, "w4", true)),
      R"(e: 45 %, b's: 42 % of the outputs' error; keep them in 8 bits with "e": "w8", "b's": "w8" in the --layer-plan: +11 % size)"));
}

TEST_CASE("what has eight bits already, or has rounded inputs, is to stay in float32") {
  quantize::Quantized made = five_layers(1040);
  made.errors[0].share = 0.5;
  for (const char* spec : {"w8", "w8a8", "w4a8", "w8a8-dynamic"})
    CHECK(test::contains(to_text(advised(made, spec)),
                         "a: 50 % of the outputs' error; keep it in float32 with --skip 'a': +30 % size"));
}

TEST_CASE("no advice where no layer stands out, where the outputs are near, and where a budget chose") {
  quantize::Quantized made = five_layers(500);
  CHECK(advised(made, "w4").data["advice"].items().empty());
  made.errors[2].share = 0.39;  // less than twice a fifth
  CHECK(advised(made, "w4").blocks.empty());
  made.errors[2].share = 0.41;
  CHECK_FALSE(advised(made, "w4").blocks.empty());
  CHECK(advised(made, "mixed:bits=4").blocks.empty());
  made.output_error = 0.0009;
  CHECK(advised(made, "w4").blocks.empty());
  CHECK(advised(quantize::Quantized(), "w4").blocks.empty());
}
