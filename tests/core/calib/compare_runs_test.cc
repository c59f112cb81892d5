#include "core/calib/compare_runs.h"

#include "backends/reference/backend.h"
#include "core/base/error.h"
#include "core/calib/model_inputs.h"
#include "core/data/random.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"

using namespace mlopt;

namespace {

Model model(const std::string& body) {
  return parse_text("<ir_version: 10, opset_import: [\"\" : 21]> g (float[2,3] x) => (float[2,3] y, float[2,3] z) {" +
                    body + "}");
}

RunComparison compare(const Model& a, const Model& b) {
  const auto data = random_dataset(model_inputs(a), {.count = 3});
  const auto backend = reference_backend();
  return compare_runs(*backend->compile(a, {}), *backend->compile(b, {}), *data, {});
}

}  // namespace

TEST_CASE("each output is compared over all samples") {
  const RunComparison found = compare(model("y = Neg (x) z = Abs (x)"), model("y = Neg (x) z = Neg (x)"));
  CHECK(found.samples == 3);
  REQUIRE(found.outputs.size() == 2);
  CHECK(found.outputs[0].equal());
  CHECK_FALSE(found.outputs[1].equal());
  CHECK(found.outputs[1].difference->max_abs > 0.1);
}

TEST_CASE("no more samples are compared than are asked for") {
  class Samples final : public Dataset {
   public:
    int64_t size() const override { return 20; }
    int64_t batch_size() const override { return 0; }
    bool labelled() const override { return false; }
    std::string name_of(int64_t i) const override { return std::to_string(i); }
    Batch batch(int64_t, int64_t count) const override {
      return {.inputs = {Datum(Tensor::zeros(DType::kF32, {count, 3}))}, .labels = {}, .count = count};
    }
  };
  const Model free =
      parse_text("<ir_version: 10, opset_import: [\"\" : 21]> g (float[N,3] x) => (float[N,3] y) { y = Neg (x) }");
  const auto plan = reference_backend()->compile(free, {});
  for (const int64_t samples : {1, 8, 11}) {
    CHECK(compare_runs(*plan, *plan, Samples(), {.samples = samples}).samples == samples);
  }
}

TEST_CASE("outputs that cannot be subtracted have a reason") {
  const Model a =
      parse_text("<ir_version: 10, opset_import: [\"\" : 21]> g (float[2,3] x) => (float[2,3] y) { y = Neg (x) }");
  const Model b = parse_text(
      "<ir_version: 10, opset_import: [\"\" : 21]> g (float[2,3] x) => (float[3,2] y) { y = Transpose (x) }");
  const RunComparison found = compare(a, b);
  CHECK_FALSE(found.outputs[0].difference);
  CHECK(found.outputs[0].problem == "shapes 2x3 and 3x2");
}

TEST_CASE("models of other inputs or numbers of outputs are refused") {
  const Model a = model("y = Neg (x) z = Abs (x)");
  const Model other_input = parse_text(
      "<ir_version: 10, opset_import: [\"\" : 21]> g (float[2,3] w) => (float[2,3] y, float[2,3] z) { y = Neg (w) z = "
      "Abs (w) }");
  const Model one_output =
      parse_text("<ir_version: 10, opset_import: [\"\" : 21]> g (float[2,3] x) => (float[2,3] y) { y = Neg (x) }");
  CHECK_THROWS_AS(compare(a, other_input), Error);
  CHECK_THROWS_AS(compare(a, one_output), Error);
}
