#include "core/train/constants.h"

#include "core/ir/constant.h"
#include "core/ir/verify.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

/// x W + b, the weights in Constant nodes or not.
Net product(bool in_nodes) {
  Net net;
  Value* x = net.input({2, 3});
  const auto weights = [&](Tensor tensor) {
    if (!in_nodes) return net.constant(std::move(tensor));
    Value* made = net.op("Constant", {}, {attr("value", tensor)});
    note_constant(*made->producer);
    return made;
  };
  Value* y = net.op("MatMul", {x, weights(uniform({3, 4}, -1, 1))});
  net.output(net.op("Add", {y, net.op("Constant", {}, {attr("value", uniform({4}, -1, 1))})}));
  for (Node* node : net.graph().nodes())
    if (node->is("Constant")) note_constant(*node);
  return net;
}

}  // namespace

TEST_CASE("weights in Constant nodes become initializers") {
  Net net = product(true);
  train::constants_to_initializers(net.model);
  verify(net.model);
  CHECK(listed_ops(net.model) == "Add 1, MatMul 1");
  CHECK(net.graph().initializers().size() == 2);
}

TEST_CASE("Constant nodes of a model with other weights stay") {
  Net net = product(false);
  train::constants_to_initializers(net.model);
  CHECK(listed_ops(net.model) == "Add 1, Constant 1, MatMul 1");
}

}  // namespace mlopt::test
