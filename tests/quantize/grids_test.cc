#include "quantize/grids.h"

#include <cmath>

#include "backends/reference/backend.h"
#include "core/onnx/tools.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/memory_data.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

TEST_CASE("a grid reaches over what its value takes on the data, and what no grid holds is said") {
  const Model model = test::fixture(R"(g (float[N,32] x, float[32,16] V, float Z) => (float[N,16] y, float[N,16] z) {
    a = MatMul (x, V)
    [root] r = Sqrt (x)
    y = Relu (a)
    z = MatMul (r, V)
  })");
  Tensor x = test::uniform({6, 32}, 0, 3);
  x.mutable_data<float>()[7] = -2;  // whose root is no number
  const test::MemoryData data(x, std::nullopt);
  const auto backend = reference_backend();
  const Runner runner{*backend, inline_functions};
  const quantize::Spec spec = quantize::parse_spec("w8a8");
  const quantize::Plan plan = quantize::make_plan(model, spec);
  const quantize::Grids found = quantize::calibrated_grids(model, plan, spec, runner, data, 100);
  CHECK(found.samples == 6);
  float low = 0, high = 0;
  for (const float v : to_floats(x)) low = std::min(low, v), high = std::max(high, v);
  const quantize::Grid& grid = found.grids.at("x");
  CHECK(grid.scale == Approx((high - low) / 255));
  CHECK(grid.zero_point == std::lround(-low / grid.scale));
  REQUIRE(found.warnings.size() == 1);
  CHECK(found.warnings[0] ==
        "the value 'r' holds infinities or NaN, which no integer represents: leave its layer out with --skip");
  CHECK(quantize::calibrated_grids(model, plan, spec, runner, data, 3).samples == 3);
}
