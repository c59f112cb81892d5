#include "backends/gpu/operand.h"

#include "backends/gpu/kernels.h"
#include "tests/support/catch.h"

namespace mlopt::gpu {

TEST_CASE("axes that all tensors step through alike are walked as one") {
  const Dims dims{4, 3, 5};
  const auto whole = walk_over<2>(dims, {row_major_strides(dims), row_major_strides(dims)});
  REQUIRE(whole);
  CHECK(whole->rank == 1);
  CHECK(whole->count == 60);
  const auto row = walk_over<2>(dims, {row_major_strides(dims), broadcast_strides({5}, dims)});
  REQUIRE(row);
  CHECK(row->rank == 2);
  int32_t at[2];
  row->locate(17, at);
  CHECK(at[0] == 17);
  CHECK(at[1] == 2);
}

TEST_CASE("what kernels cannot count or walk is declined") {
  const Dims large{1 << 20, 1 << 12};
  CHECK_FALSE((walk_over<1>(large, {row_major_strides(large)})));
  const Dims none{3, 0};
  CHECK_FALSE((walk_over<1>(none, {row_major_strides(none)})));
  Dims many(9, 2), reversed = row_major_strides(many);
  std::reverse(reversed.begin(), reversed.end());
  CHECK_FALSE((walk_over<1>(many, {reversed})));
  CHECK_FALSE(elem_of(DType::kF64));
  CHECK_FALSE(width_of(DType::kI4));
}

TEST_CASE("every kernel plans, and runs nowhere else") {
  const std::vector<Kernel> all = all_kernels();
  REQUIRE(all.size() > 50);
  for (const Kernel& kernel : all) {
    CHECK(kernel.plan);
    CHECK(kernel.compile);
    CHECK_FALSE(kernel.label.empty());
  }
}

}  // namespace mlopt::gpu
