#include "quantize/coverage.h"

#include "tests/support/catch.h"
#include "tests/support/op.h"

using namespace mlopt;

TEST_CASE("what lies more than half a step outside of a grid counts as clipped") {
  // 1000 numbers, evenly from -0.5 to 0.5.
  std::vector<float> numbers;
  for (int i = 0; i < 1000; ++i) numbers.push_back((static_cast<float>(i) + 0.5f) / 1000 - 0.5f);
  Histogram seen;
  seen.see(Tensor::of<float>({1000}, numbers));
  const quantize::Grid whole = quantize::activation_grid({-0.5, 0.5}, false);
  CHECK(quantize::coverage_of(seen, whole).clipped == 0);
  CHECK(quantize::coverage_of(seen, whole).low == Approx(-0.5).margin(0.004));

  // From -0.25 to 0.25 in 15 steps of 1/30: half a step more is not clipped, so that 2 * (0.25 - 1/60) are.
  const quantize::Grid half = quantize::activation_grid({-0.25, 0.25}, false, 4);
  const quantize::Coverage found = quantize::coverage_of(seen, half);
  CHECK(found.high - found.low == Approx(0.5));
  CHECK(found.clipped == Approx(0.5 - 1.0 / 30).margin(0.001));  // a number of 1000

  // One side alone.
  const quantize::Grid positive = quantize::activation_grid({0, 0.5}, false);
  CHECK(quantize::coverage_of(seen, positive).clipped == Approx(0.5).margin(0.002));
}

TEST_CASE("of nothing that was seen nothing is clipped") {
  CHECK(quantize::coverage_of(Histogram(), quantize::activation_grid({0, 1}, false)).clipped == 0);
}
