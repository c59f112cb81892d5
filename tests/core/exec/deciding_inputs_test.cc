#include "core/exec/deciding_inputs.h"

#include "core/base/error.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

/// y = Reshape(x, Concat(rows, [-1])) * scale, z = Range(0, Cast(last), 1).
Net reshaping() {
  Net net;
  Type any = Type::tensor(DType::kF32);
  any.dims = SymDims{Dim::symbol("A"), Dim::symbol("B")};
  Value* x = net.graph().add_input("x", any);
  Value* rows = net.graph().add_input("rows", Type::tensor(DType::kI64, Dims{1}));
  Value* scale = net.graph().add_input("scale", Type::tensor(DType::kF32, Dims{1}));
  Value* last = net.graph().add_input("last", Type::tensor(DType::kI32, Dims{}));
  Value* shape = net.op("Concat", {rows, net.constant(Tensor::ints({-1}))}, {{"axis", int64_t{0}, ""}});
  net.output(net.op("Mul", {net.op("Reshape", {x, shape}), scale}));
  Value* end = net.op("Cast", {last}, {{"to", int64_t{7}, ""}});
  net.output(
      net.op("Range", {net.constant(Tensor::scalar(int64_t{0})), end, net.constant(Tensor::scalar(int64_t{1}))}));
  return net;
}

std::vector<Datum> inputs(int64_t rows, int32_t last) {
  return {counting({4, 6}), Tensor::ints({rows}), tensor({1}, {2}), Tensor::scalar(last)};
}

}  // namespace

TEST_CASE("inputs decide when shapes follow from their values") {
  Net net = reshaping();
  CHECK(deciding_inputs(net.graph()) == std::vector<bool>{false, true, false, true});
  const std::vector<Datum> given = inputs(3, 5);
  const auto values = decisions(given, deciding_inputs(net.graph()));
  REQUIRE(values.size() == 4);
  CHECK_FALSE(values[0]);
  CHECK(values[1]);
  CHECK(same_decisions(given, values));
  CHECK_FALSE(same_decisions(inputs(2, 5), values));
  CHECK_FALSE(same_decisions(inputs(3, 6), values));
  CHECK(same_decisions(given, {}));
  CHECK(undecided<Datum>(given, values).size() == 2);
  const std::vector<Datum> large{Tensor::zeros(DType::kI64, {2000})};
  CHECK_FALSE(decisions(large, {true})[0]);
  Model fixed = clone(net.model);
  fix_inputs(fixed, values);
  REQUIRE(fixed.graph->inputs().size() == 2);
  CHECK(fixed.graph->find("rows")->is_initializer());
}

TEST_CASE("inputs decide however many operators are between") {
  Net net;
  Value* v = net.graph().add_input("x", Type::tensor(DType::kI64, Dims{1}));
  for (int i = 0; i < 200'000; ++i) {
    Value* next = net.graph().add_value("v" + std::to_string(i));
    net.graph().add_node("", "Neg", {v}, {next});
    v = next;
  }
  net.output(net.op("ConstantOfShape", {v}));
  CHECK(deciding_inputs(net.graph()) == std::vector<bool>{true});
}

TEST_CASE("a plan that runs nothing node by node is made for the values that decide shapes") {
  Net net = reshaping();
  const auto plan = gpu_on_host()->compile(net.model, {});
  for (const auto& [rows, last] : {std::pair{3, 5}, {2, 5}, {3, 5}, {12, 1}}) {
    const std::vector<Datum> made = plan->run(inputs(rows, last));
    REQUIRE(made.size() == 2);
    CHECK(made[0].tensor().dims() == Dims{rows, 24 / rows});
    CHECK(made[0].tensor().data<float>()[23] == 2 * counting({4, 6}).data<float>()[23]);
    CHECK(made[1].tensor().dims() == Dims{last});
    CHECK(made[1].tensor().data<int64_t>()[last - 1] == last - 1);
  }
}

}  // namespace mlopt::test
