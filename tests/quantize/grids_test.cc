#include "quantize/grids.h"

#include <cmath>

#include "backends/reference/backend.h"
#include "core/onnx/tools.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/memory_data.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"
#include "tests/support/temp_dir.h"

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

TEST_CASE("what calibration has seen is found again, until model or data are others") {
  const test::TempDir folder;
  const Model model = test::fixture(R"(g (float[N,32] x, float[32,16] V) => (float[N,16] y) {
    y = MatMul (x, V)
  })");
  const auto backend = reference_backend();
  const Runner runner{*backend, inline_functions};
  const quantize::Spec spec = quantize::parse_spec("w8a8");
  const quantize::Plan plan = quantize::make_plan(model, spec);
  quantize::CalibrationMeans means;
  means.cache = folder / "kept";
  const test::MemoryData data(test::uniform({6, 32}, 0, 3), std::nullopt),
      more(test::uniform({6, 32}, 0, 9), std::nullopt);
  const auto run = [&](const Dataset& given) {
    return quantize::calibrated_grids(model, plan, spec, runner, given, 100, means);
  };
  const quantize::Grids first = run(data), second = run(data), third = run(more);
  CHECK_FALSE(first.cached);
  CHECK(second.cached);
  CHECK(second.samples == 6);
  CHECK(second.grids.at("x").scale == first.grids.at("x").scale);
  CHECK_FALSE(third.cached);
  CHECK(third.grids.at("x").scale > 2 * first.grids.at("x").scale);
  CHECK(run(more).cached);
}

TEST_CASE("parts of the data see together what one run sees") {
  const Model model = test::fixture(R"(g (float[N,32] x, float[32,16] V) => (float[N,16] y) {
    y = MatMul (x, V)
  })");
  const auto backend = reference_backend();
  const Runner runner{*backend, inline_functions};
  const quantize::Spec spec = quantize::parse_spec("w8a8:calibration=percentile=99");
  const quantize::Plan plan = quantize::make_plan(model, spec);
  const test::MemoryData data(test::uniform({11, 32}, -2, 3), std::nullopt);
  Calibration all;
  std::string key;
  quantize::CalibrationMeans means;
  means.parts = 3;
  means.combine = [&](const Calibration& mine, const std::string& of) {
    CHECK((key.empty() || key == of));
    key = of;
    all.samples += mine.samples;
    for (const auto& [name, histogram] : mine.values) all.values[name].merge(histogram);
    return all;
  };
  quantize::Grids last;
  for (means.part = 0; means.part < means.parts; ++means.part)
    last = quantize::calibrated_grids(model, plan, spec, runner, data, 100, means);
  const quantize::Grids one = quantize::calibrated_grids(model, plan, spec, runner, data, 100);
  CHECK(last.samples == one.samples);
  CHECK(last.grids.at("x").scale == one.grids.at("x").scale);
  CHECK(last.grids.at("x").zero_point == one.grids.at("x").zero_point);
}
