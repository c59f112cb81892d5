#include "core/data/transform.h"

#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/thrown.h"

namespace mlopt {
namespace {

/// 1 x 2 pixels of RGB.
Picture two_pixels() {
  Picture picture(1, 2, 3);
  picture.pixels = {10, 20, 30, 40, 50, 60};
  return picture;
}

}  // namespace

TEST_CASE("pixels become planes or stay together") {
  CHECK(to_ints(to_tensor(two_pixels(), false)) == std::vector<int64_t>{10, 40, 20, 50, 30, 60});
  CHECK(to_tensor(two_pixels(), false).dims() == Dims{3, 1, 2});
  CHECK(to_ints(to_tensor(two_pixels(), true)) == std::vector<int64_t>{10, 20, 30, 40, 50, 60});
  CHECK(to_tensor(two_pixels(), true).dims() == Dims{1, 2, 3});
  Transforms transforms;
  transforms.bgr = true;
  CHECK(to_ints(to_tensor(transform_picture(two_pixels(), transforms, ""), true)) ==
        std::vector<int64_t>{30, 20, 10, 60, 50, 40});
}

TEST_CASE("scale, mean and std run over the channel axis") {
  Transforms transforms;
  transforms.mean = {1, 2, 3};
  transforms.deviation = {2, 4, 5};
  const std::vector<double> planes = {(5 - 1) / 2.0,  (20 - 1) / 2.0, (10 - 2) / 4.0,
                                      (25 - 2) / 4.0, (15 - 3) / 5.0, (30 - 3) / 5.0};
  const Tensor first = normalize(to_tensor(two_pixels(), false), transforms, 0.5, 0, "");
  for (size_t i = 0; i < 6; ++i) CHECK(to_doubles(first)[i] == Approx(planes[i]));
  const Tensor last = normalize(to_tensor(two_pixels(), true), transforms, 0.5, 2, "");
  CHECK(to_doubles(last)[1] == Approx(planes[2]));
  CHECK(to_doubles(last)[3] == Approx(planes[1]));
  transforms.scale = 1;
  CHECK(to_doubles(normalize(to_tensor(two_pixels(), false), transforms, 0.5, 0, ""))[0] == Approx(4.5));
}

TEST_CASE("without anything to do the bytes stay bytes") {
  CHECK(normalize(to_tensor(two_pixels(), false), {}, 1, 0, "").dtype() == DType::kU8);
}

TEST_CASE("as many numbers as channels, or one") {
  Transforms transforms;
  transforms.mean = {1, 2};
  const Error error = test::thrown_by([&] { normalize(to_tensor(two_pixels(), false), transforms, 1, 0, "sample 3"); });
  CHECK(test::says(error, "mean has 2 numbers for 3 channels: sample 3"));
}

}  // namespace mlopt
