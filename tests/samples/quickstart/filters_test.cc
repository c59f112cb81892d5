#include "samples/quickstart/filters.h"

#include <cmath>
#include <utility>
#include <vector>

#include "tests/support/catch.h"

using namespace mlopt;
using namespace mlopt::quickstart;

namespace {

constexpr int64_t kSize = 4;  ///< of a filter: a period of the stripes, so that all patches are equally bright

/// Pictures of horizontal and of vertical stripes, two pixels wide.
Tensor stripes(int64_t count) {
  constexpr int64_t kSide = 12;
  Tensor pictures(DType::kF32, {count, 1, kSide, kSide});
  float* to = pictures.mutable_data<float>();
  for (int64_t n = 0; n < count; ++n) {
    for (int64_t y = 0; y < kSide; ++y) {
      for (int64_t x = 0; x < kSide; ++x) *to++ = ((n % 2 == 0 ? x : y) + n / 2) / 2 % 2 == 0 ? 1.0F : 0.0F;
    }
  }
  return pictures;
}

/// How much a filter changes along x and along y.
std::pair<float, float> changes(const float* filter) {
  float along_x = 0, along_y = 0;
  for (int64_t i = 0; i < kSize; ++i) {
    for (int64_t j = 0; j + 1 < kSize; ++j) {
      along_x += std::abs(filter[kSize * i + j + 1] - filter[kSize * i + j]);
      along_y += std::abs(filter[kSize * (j + 1) + i] - filter[kSize * j + i]);
    }
  }
  return {along_x, along_y};
}

}  // namespace

TEST_CASE("Filters find the stripes that the pictures are made of", "[samples]") {
  Rng rng(1);
  const Tensor filters = learn_filters(stripes(8), 8, kSize, rng);
  REQUIRE(filters.dims() == Dims{8, 1, kSize, kSize});
  int horizontal = 0, vertical = 0;
  for (int64_t k = 0; k < 8; ++k) {
    const auto [along_x, along_y] = changes(filters.data<float>() + kSize * kSize * k);
    horizontal += along_y > 10 * along_x;
    vertical += along_x > 10 * along_y;
  }
  CHECK(horizontal > 0);
  CHECK(vertical > 0);
  CHECK(horizontal + vertical == 8);
}

TEST_CASE("The same seed gives the same filters", "[samples]") {
  Rng one(5), same(5), other(6);
  const Tensor pictures = stripes(8), filters = learn_filters(pictures, 4, 3, one);
  const auto bytes = [](const Tensor& t) { return std::vector<float>(t.data<float>(), t.data<float>() + t.size()); };
  CHECK(bytes(filters) == bytes(learn_filters(pictures, 4, 3, same)));
  CHECK(bytes(filters) != bytes(learn_filters(pictures, 4, 3, other)));
}
