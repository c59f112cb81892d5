#include "core/exec/desc.h"

#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("channels-last keeps the dims and moves axis 1 innermost in memory") {
  TensorDesc d{DType::kF32, {2, 3, 4, 5}};
  CHECK(d.strides() == Dims{60, 20, 5, 1});
  CHECK(d.memory_dims() == d.dims);
  d.layout = Layout::kChannelsLast;
  CHECK(d.strides() == Dims{60, 1, 15, 3});
  CHECK(d.memory_dims() == Dims{2, 4, 5, 3});
  CHECK(d.bytes() == 480);
}

TEST_CASE("both layouts are one where there is one channel or one position") {
  const auto any = [](Dims dims) { return TensorDesc{DType::kF32, std::move(dims)}.is_any_layout(); };
  CHECK(any({2, 1, 4, 5}));
  CHECK(any({2, 7, 1, 1}));
  CHECK(any({2, 7}));
  CHECK(any({}));
  CHECK_FALSE(any({1, 2, 2}));
  CHECK_FALSE(any({1, 3, 1, 2}));
}

TEST_CASE("elements of less than a byte share bytes") { CHECK(TensorDesc{DType::kI4, {3, 3}}.bytes() == 5); }
