#include "core/tensor/picked.h"

#include "core/tensor/cast.h"
#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("positions of an axis are picked, in their order") {
  const Tensor t = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(to_floats(picked(t, 1, {2, 0})) == std::vector<float>{3, 1, 6, 4});
  CHECK(picked(t, 1, {2, 0}).dims() == Dims{2, 2});
  CHECK(to_floats(picked(t, 0, {1})) == std::vector<float>{4, 5, 6});
  CHECK(picked(t, 0, {}).dims() == Dims{0, 3});
  CHECK(picked(Tensor(DType::kI8, {0, 3}), 1, {1}).dims() == Dims{0, 1});
}

TEST_CASE("the rows of a matrix become its columns") {
  const Tensor t = transposed(Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
  CHECK(t.dims() == Dims{3, 2});
  CHECK(to_floats(t) == std::vector<float>{1, 4, 2, 5, 3, 6});
  CHECK(to_ints(transposed(Tensor::of<int8_t>({1, 2}, {7, 8}))) == std::vector<int64_t>{7, 8});
  CHECK(transposed(Tensor(DType::kI8, {0, 3})).dims() == Dims{3, 0});
}
