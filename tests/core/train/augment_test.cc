#include "core/train/augment.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

constexpr int64_t kSide = 5;

/// Pictures of one channel whose pixels are 1, 2, ... from left to right and on.
Tensor pictures(int64_t count) {
  Tensor all(DType::kF32, {count, 1, kSide, kSide});
  for (int64_t i = 0; i < all.size(); ++i) all.mutable_data<float>()[i] = static_cast<float>(i % (kSide * kSide) + 1);
  return all;
}

/// How the picture was moved, as (down, right, flipped): the one way that explains all of its pixels.
std::tuple<int64_t, int64_t, bool> explained(const float* picture, int64_t most) {
  for (int64_t down = -most; down <= most; ++down)
    for (int64_t right = -most; right <= most; ++right)
      for (const bool flip : {false, true}) {
        bool fits = true;
        for (int64_t y = 0; y < kSide; ++y)
          for (int64_t x = 0; x < kSide; ++x) {
            const int64_t sy = y - down, sx = flip ? kSide - 1 - (x - right) : x - right;
            const bool inside = sy >= 0 && sy < kSide && sx >= 0 && sx < kSide;
            fits = fits && picture[y * kSide + x] == (inside ? static_cast<float>(sy * kSide + sx + 1) : 0);
          }
        if (fits) return {down, right, flip};
      }
  FAIL("not a shifted picture");
  return {};
}

std::vector<int64_t> ids(int64_t first, int64_t count) {
  std::vector<int64_t> all;
  for (int64_t i = first; i < first + count; ++i) all.push_back(i);
  return all;
}

}  // namespace

TEST_CASE("pictures are shifted and flipped, each in its own way") {
  constexpr int64_t kCount = 400;
  const Tensor changed =
      train::augment(train::parse_augmentation("crop=1/flip"), pictures(kCount), ids(0, kCount), 0, 1);
  std::map<std::tuple<int64_t, int64_t, bool>, int> seen;
  for (int64_t i = 0; i < kCount; ++i) ++seen[explained(changed.data<float>() + i * kSide * kSide, 1)];
  CHECK(seen.size() == 18);  // 3 by 3 places, flipped or not
  for (const auto& [change, times] : seen) CHECK(times > 5);
}

TEST_CASE("what happens to a sample depends on seed, epoch and sample alone") {
  const train::Augmentation how = train::parse_augmentation("crop=2/flip/cutout=2");
  const Tensor all = train::augment(how, pictures(8), ids(0, 8), 3, 7);
  const Tensor later = train::augment(how, pictures(3), ids(5, 3), 3, 7);
  const size_t bytes = static_cast<size_t>(kSide * kSide) * sizeof(float);
  CHECK(std::memcmp(later.raw(), all.raw() + 5 * bytes, 3 * bytes) == 0);
  CHECK(std::memcmp(train::augment(how, pictures(8), ids(0, 8), 4, 7).raw(), all.raw(), all.bytes()) != 0);
  CHECK(std::memcmp(train::augment(how, pictures(8), ids(0, 8), 3, 8).raw(), all.raw(), all.bytes()) != 0);
}

TEST_CASE("neighbouring seeds draw other changes for neighbouring samples") {
  const train::Augmentation how = train::parse_augmentation("crop=2/flip/cutout=2");
  const Tensor even = train::augment(how, pictures(8), ids(0, 8), 0, 0),
               odd = train::augment(how, pictures(8), ids(0, 8), 0, 1);
  const size_t bytes = static_cast<size_t>(kSide * kSide) * sizeof(float);
  for (size_t i = 0; i < 8; i += 2) CHECK(std::memcmp(even.raw() + i * bytes, odd.raw() + (i + 1) * bytes, bytes) != 0);
}

TEST_CASE("a square of each picture is cut out") {
  const Tensor changed = train::augment(train::parse_augmentation("cutout=2"), pictures(50), ids(0, 50), 0, 1);
  std::map<int64_t, int> zeros;
  for (int64_t i = 0; i < 50; ++i) {
    const float* picture = changed.data<float>() + i * kSide * kSide;
    ++zeros[std::count(picture, picture + kSide * kSide, 0.0f)];
  }
  for (const auto& [count, times] : zeros) CHECK((count == 1 || count == 2 || count == 4));
  CHECK(zeros[4] > 20);
}

TEST_CASE("unknown augmentations and other tensors are refused") {
  for (const char* text :
       {"crop", "crop=0", "crop=x", "rotate=3", "flip=1", "mixup", "mixup=0", "mixup=-1", "mixup=nan", "mixup=inf"})
    CHECK(thrown_by([&] { train::parse_augmentation(text); }).code == Code::kUsage);
  CHECK(train::parse_augmentation("flip/mixup=0.2").mixup == 0.2);
  CHECK(!train::parse_augmentation("mixup=0.2").changes_pictures());
  CHECK(says(thrown_by([&] {
               train::augment({1, false, 0}, tensor({2, 3}, {1, 2, 3, 4, 5, 6}), ids(0, 2), 0, 1);
             }),
             "float32 2x3 are no float32 pictures"));
}

}  // namespace mlopt::test
