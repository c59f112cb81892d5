#include "backends/cpu/operand.h"

#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::cpu {

TEST_CASE("a constant is packed once for each layout, and not at all for its own") {
  const Tensor weights = test::uniform({16, 8, 3, 3}, -1, 1);
  const Desc given = plain(weights), blocked(weights.dims(), Elem::f32, Layout::ABcd8b8a),
             last(weights.dims(), Elem::f32, Layout::acdb);
  Packed packed(weights, given);
  REQUIRE(packed.as(given).get_data_handle() == weights.raw());
  const void* first = packed.as(blocked).get_data_handle();
  REQUIRE(first != weights.raw());
  REQUIRE(packed.as(last).get_data_handle() != first);
  REQUIRE(packed.as(blocked).get_data_handle() == first);
}

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

}  // namespace mlopt::cpu
