#include "core/ir/typed_op.h"

#include "core/ir/bind.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {

TEST_CASE("types that do not follow from the inputs outlast new shapes") {
  Net net;
  Value* x = net.input({2, 3});
  const std::vector<Type> types = {Type::tensor(DType::kF64, Dims{5}), Type::tensor(DType::kF32, Dims{2, 3})};
  const std::vector<Value*> made = add_typed_op(net.graph(), "Odd", {x}, {}, types, "odd");
  net.output(made[0]);
  bind_input_shapes(net.model, {{2, 3}});
  CHECK(to_string(made[0]->type) == "float64[5]");
  CHECK(to_string(made[1]->type) == "float32[2,3]");
  CHECK(kept_types(*made[0]->producer).size() == 2);
}

TEST_CASE("what is no type is not kept as one") {
  Net net;
  const Node* odd =
      net.graph().add_op("Odd", {net.input({2})}, {{"type0", int64_t{3}, {}}}, nullptr, "odd", 1, "mlopt");
  CHECK(kept_types(*odd).empty());
}

}  // namespace mlopt::test
