#include "core/train/untie.h"

#include "core/ir/verify.h"
#include "tests/support/catch.h"
#include "tests/support/gradients.h"
#include "tests/support/net.h"

namespace mlopt::test {

TEST_CASE("a weight that is given as another's Identity becomes its own") {
  Net net;
  Value* x = net.input({3});
  Value* first = net.graph().add_constant("first.bias", tensor({3}, {1, 2, 3}));
  Value* second = net.op("Identity", {first});
  net.graph().rename(second, "second.bias");
  net.output(net.op("Mul", {net.op("Add", {x, first}), second}));
  const std::vector<Datum> at = {tensor({3}, {5, 6, 7})};
  const Tensor before = reference_outputs(net.model, at)[0];
  train::untie_weights(net.model);
  verify(net.model);
  CHECK(listed_ops(net.model) == "Add 1, Mul 1");
  REQUIRE(net.graph().find("second.bias"));
  CHECK(net.graph().find("second.bias")->is_initializer());
  require_close(reference_outputs(net.model, at)[0], before);
}

}  // namespace mlopt::test
