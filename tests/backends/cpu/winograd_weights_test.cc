#include "backends/cpu/winograd_weights.h"

#include <cmath>
#include <limits>

#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::cpu {
namespace {

ConvShape shape_of(int64_t channels, int64_t channels_out, int64_t size) {
  return {{1, channels, size, size},
          {channels_out, channels, 3, 3},
          {1, channels_out, size, size},
          1,
          {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}};
}

}  // namespace

TEST_CASE("transformed weights can be restored") {
  const Tensor w = test::uniform({21, 5, 3, 3}, -1, 1);
  for (const int m : {2, 4}) {
    const WinogradWeights weights(w.data<float>(), 21, 5, m);
    REQUIRE(weights.channels_out() == 21);
    REQUIRE(weights.channels() == 5);
    for (int64_t k = 0; k < 21; ++k)
      for (int64_t c = 0; c < 5; ++c) {
        float taps[9];
        weights.restore(k, c, taps);
        for (int64_t i = 0; i < 9; ++i) REQUIRE(std::abs(taps[i] - w.data<float>()[(k * 5 + c) * 9 + i]) <= 1e-6f);
      }
  }
}

TEST_CASE("weights that are not finite are noticed") {
  Tensor w = test::uniform({16, 16, 3, 3}, -1, 1);
  REQUIRE(WinogradWeights(w.data<float>(), 16, 16, 4).is_finite());
  w.mutable_data<float>()[100] = std::numeric_limits<float>::quiet_NaN();
  REQUIRE_FALSE(WinogradWeights(w.data<float>(), 16, 16, 4).is_finite());
}

TEST_CASE("tiles are chosen where they save work") {
  CHECK(winograd_tile(shape_of(64, 64, 56), 1) == 4);
  CHECK(winograd_tile(shape_of(64, 64, 56), 2) == 4);
  CHECK(winograd_tile(shape_of(256, 256, 14), 1) == 2);  // the weights of larger tiles cost more to read
  CHECK(winograd_tile(shape_of(512, 512, 7), 1) == 0);
  CHECK(winograd_tile(shape_of(3, 64, 224), 1) == 0);
  ConvShape strided = shape_of(64, 64, 56);
  strided.window.strides = {2, 2};
  CHECK(winograd_tile(strided, 1) == 0);
  ConvShape dilated = shape_of(64, 64, 56);
  dilated.window.dilations = {2, 2};
  CHECK(winograd_tile(dilated, 1) == 0);
  ConvShape grouped = shape_of(64, 64, 56);
  grouped.groups = 2;
  CHECK(winograd_tile(grouped, 1) == 0);
}

}  // namespace mlopt::cpu
