#include "backends/cpu/packed.h"

#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::cpu {

TEST_CASE("a constant is packed once for each layout, and not at all for its own") {
  const Tensor weights = test::uniform({16, 8, 3, 3}, -1, 1);
  const Desc given = plain(DType::kF32, weights.dims()), blocked(weights.dims(), Elem::f32, Layout::ABcd8b8a),
             last(weights.dims(), Elem::f32, Layout::acdb);
  Packed packed(weights, given);
  REQUIRE(packed.as(given).get_data_handle() == weights.raw());
  const void* first = packed.as(blocked).get_data_handle();
  REQUIRE(first != weights.raw());
  REQUIRE(packed.as(last).get_data_handle() != first);
  REQUIRE(packed.as(blocked).get_data_handle() == first);
}

}  // namespace mlopt::cpu
