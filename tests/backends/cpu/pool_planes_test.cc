#include "backends/cpu/pool_planes.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/support/catch.h"

namespace mlopt::cpu {
namespace {

/// Windows of 3 x 3 without padding.
Pool windows(int64_t height, int64_t width, int64_t stride = 1) {
  Pool p;
  p.axes[1] = {height, (height - 3) / stride + 1, 3, stride};
  p.axes[2] = {width, (width - 3) / stride + 1, 3, stride};
  return p;
}

}  // namespace

TEST_CASE("planes of short rows are pooled as wholes, but for those that leave the second cache") {
  CHECK(PlanePool<float>::takes(windows(20, 20)));
  CHECK(PlanePool<float>::takes(windows(180, 256)));
  CHECK_FALSE(PlanePool<float>::takes(windows(20, 257)));
  CHECK_FALSE(PlanePool<float>::takes(windows(2000, 200)));
}

TEST_CASE("every stride-th number is picked") {
  std::vector<float> numbers(40);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  for (const int64_t stride : {1, 2, 3, 7}) {
    std::vector<float> picked(6, -1);
    pick_row(numbers.data(), stride, 5, picked.data());
    for (int64_t i = 0; i < 5; ++i) CHECK(picked[static_cast<size_t>(i)] == static_cast<float>(stride * i));
    CHECK(picked.back() == -1);
  }
}

TEST_CASE("the largest under each window, of planes far apart") {
  const Pool p = windows(7, 9, 2);
  std::vector<int8_t> plane(63);
  for (size_t i = 0; i < plane.size(); ++i) plane[i] = static_cast<int8_t>(i * 37 % 101 - 50);
  const PlanePool<int8_t> pool(p);
  std::vector<int8_t> room(static_cast<size_t>(pool.room())), got(12);
  pool.run(plane.data(), 0, room.data(), got.data());
  for (size_t h = 0; h < 3; ++h)
    for (size_t w = 0; w < 4; ++w) {
      int8_t most = -128;
      for (size_t y = 0; y < 3; ++y)
        for (size_t x = 0; x < 3; ++x) most = std::max(most, plane[(2 * h + y) * 9 + 2 * w + x]);
      CHECK(got[h * 4 + w] == most);
    }
}

}  // namespace mlopt::cpu
