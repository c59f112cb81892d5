#include "core/rewrite/fusion/norm.h"

#include "core/tensor/cast.h"
#include "tests/support/catch.h"

using namespace mlopt;
using fusion::by_channel;

TEST_CASE("numbers go with channels where these are their only axis of more than one") {
  const Tensor row = Tensor::of<float>({2}, {3, 4});
  for (const Dims& dims : {Dims{2, 1, 1}, Dims{1, 2, 1, 1}}) {
    const auto found = by_channel(row.reshaped(dims), 2, 4);
    REQUIRE(found);
    CHECK(found->dims() == Dims{2});
    CHECK(to_floats(*found) == std::vector<float>{3, 4});
  }
  for (const Dims& dims : {Dims{2}, Dims{2, 1}, Dims{1, 2, 1}, Dims{2, 1, 1, 1}, Dims{1, 1, 2, 1, 1}})
    CHECK_FALSE(by_channel(row.reshaped(dims), 2, 4));
  CHECK_FALSE(by_channel(row.reshaped({2, 1, 1}), 3, 4));
  CHECK_FALSE(by_channel(Tensor::scalar(1.0f), 1, 1));
}
