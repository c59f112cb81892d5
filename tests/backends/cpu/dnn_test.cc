#include "backends/cpu/dnn.h"

#include <algorithm>
#include <cmath>

#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::cpu {

TEST_CASE("a workspace gives distinct memory, and the same again to the next one") {
  std::byte* first = nullptr;
  for (int round = 0; round < 3; ++round) {
    Workspace space;
    std::byte *a = space.take(1000), *b = space.take(1 << 20);
    REQUIRE(reinterpret_cast<uintptr_t>(a) % 64 == 0);
    REQUIRE(reinterpret_cast<uintptr_t>(b) % 64 == 0);
    REQUIRE((b >= a + 1000 || a >= b + (1 << 20)));
    a[999] = b[(1 << 20) - 1] = std::byte{1};
    if (round == 1) first = a;
    if (round == 2) REQUIRE(a == first);
  }
}

TEST_CASE("element types and scalars are described as oneDNN has them") {
  REQUIRE(elem_of(DType::kU8) == Elem::u8);
  REQUIRE(!elem_of(DType::kF64));
  REQUIRE(!elem_of(DType::kI64));
  REQUIRE(plain(DType::kF32, {}).get_dims() == Dims{1});
  REQUIRE(plain(DType::kF32, {2, 3}).get_strides() == Dims{3, 1});
}

TEST_CASE("a reorder moves elements to another layout and back, and saturates") {
  const Tensor x = test::uniform({2, 3, 5, 7}, -1000, 1000);
  const Desc rows = plain(x), last(x.dims(), Elem::f32, Layout::acdb), bytes = plain(DType::kI8, x.dims());
  Workspace space;
  const Memory moved = space.memory(last);
  Reorder(rows, last).run(wrap(rows, x), moved, space);
  REQUIRE(static_cast<const float*>(moved.get_data_handle())[1] == x.data<float>()[35]);
  Tensor back(DType::kF32, x.dims()), small(DType::kI8, x.dims());
  Reorder(last, rows).run(moved, wrap(rows, back), space);
  REQUIRE(to_floats(back) == to_floats(x));
  Reorder(rows, bytes).run(wrap(rows, x), wrap(bytes, small), space);
  const auto numbers = to_floats(x);
  for (size_t i = 0; i < numbers.size(); ++i)
    REQUIRE(to_ints(small)[i] == static_cast<int64_t>(std::nearbyint(std::clamp(numbers[i], -128.0f, 127.0f))));
}

}  // namespace mlopt::cpu
