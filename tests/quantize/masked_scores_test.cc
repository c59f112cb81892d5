#include "quantize/masked_scores.h"

#include "backends/reference/backend.h"
#include "core/onnx/infer.h"
#include "core/onnx/tools.h"
#include "quantize/grids.h"
#include "tests/support/catch.h"
#include "tests/support/memory_data.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// The grid of `value` on data in [-3, 3].
quantize::Grid grid_of(const std::string& body, const std::string& value) {
  Model model = test::fixture("g (float[N,2] x) => (float[N,2] y) <" + body);
  infer(model, standard_types);
  const test::MemoryData data(test::uniform({20, 2}, -3, 3), std::nullopt);
  const auto backend = reference_backend();
  const Runner runner{*backend, inline_functions};
  const quantize::Spec spec = quantize::parse_spec("w8a8:require_integer");
  const quantize::Plan plan = quantize::make_plan(model, spec);
  return quantize::calibrated_grids(model, plan, spec, runner, data, 100).grids.at(value);
}

double lowest(const quantize::Grid& grid) { return (grid.low - grid.zero_point) * grid.scale; }

}  // namespace

TEST_CASE("a mask before a softmax leaves the scores their codes") {
  const char* masks[] = {
      "float[2] m = {0, -10000}> { s = Add (x, m)  y = Softmax (s) }",
      "float[2] m = {0, -3.4e38}> { s = Add (m, x)  y = Softmax (s) }",
      "bool[2] c = {1, 0}, float m = {-1e9}> { s = Where (c, x, m)  y = Softmax (s) }",
      "bool[2] c = {0, 1}, float m = {-1e9}> { s = Where (c, m, x)  y = Softmax (s) }",
      "float[2] m = {0, -10000}, int64[2] o = {0, 0}> { s = Add (x, m)  t = Reshape (s, o)  y = Softmax (t) }",
  };
  for (const char* body : masks) {
    INFO(body);
    CHECK(lowest(grid_of(body, "s")) == Approx(-15).margin(0.3));
  }
}

TEST_CASE("what no mask hides, or others read, keeps its range") {
  CHECK(lowest(grid_of("float[2] m = {0, -50}> { s = Add (x, m)  y = Softmax (s) }", "s")) < -45);
  CHECK(lowest(grid_of("float[2] m = {0, -10000}> { s = Add (x, m)  y = Sigmoid (s) }", "s")) < -9000);
  CHECK(lowest(grid_of("float[2] m = {0, -10000}> { s = Add (x, m)  t = Softmax (s)  y = Add (t, s) }", "s")) < -9000);
  CHECK(lowest(grid_of("float[2] m = {200, -10000}> { s = Add (x, m)  y = Softmax (s) }", "s")) < -9000);
}
