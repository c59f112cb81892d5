#include "core/tensor/dtype.h"

#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("every type is known by its name") {
  for (int i = 1; i < kDTypeCount; ++i) {
    const auto type = static_cast<DType>(i);
    INFO(name(type));
    CHECK(dtype_from_name(name(type)) == type);
  }
  CHECK(dtype_from_name("fp16") == DType::kF16);
  CHECK(dtype_from_name("i8") == DType::kI8);
  CHECK(dtype_from_name("double") == DType::kF64);
  CHECK_FALSE(dtype_from_name("undefined"));
  CHECK_FALSE(dtype_from_name("float17"));
  CHECK(name(static_cast<DType>(99)) == "undefined");
}

TEST_CASE("elements narrower than a byte share bytes") {
  CHECK(packed_bytes(DType::kI4, 5) == 3);
  CHECK(packed_bytes(DType::kU2, 5) == 2);
  CHECK(packed_bytes(DType::kF4E2M1, 0) == 0);
  CHECK(packed_bytes(DType::kC128, 3) == 48);
  CHECK(packed_bytes(DType::kBool, 3) == 3);
  CHECK(packed_bytes(DType::kString, 3) == 0);
  for (int i = 1; i < kDTypeCount; ++i) {
    const auto type = static_cast<DType>(i);
    CHECK(is_sub_byte(type) == (packed_bytes(type, 4) < 4 && type != DType::kString));
  }
}

TEST_CASE("each type belongs to one family") {
  for (int i = 1; i < kDTypeCount; ++i) {
    const auto type = static_cast<DType>(i);
    INFO(name(type));
    const bool neither = type == DType::kString || type == DType::kBool;
    CHECK(is_float(type) + is_integer(type) + is_complex(type) + neither == 1);
    if (is_small_float(type)) CHECK(is_float(type));
    if (is_float(type)) CHECK(is_signed(type));
  }
  CHECK(is_small_float(DType::kF8E8M0));
  CHECK_FALSE(is_small_float(DType::kF32));
  CHECK((is_signed(DType::kI2) && !is_signed(DType::kU2) && !is_signed(DType::kBool)));
}
