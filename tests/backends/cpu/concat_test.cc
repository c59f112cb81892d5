#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

void require_joined(const std::vector<Dims>& shapes, int64_t axis, DType type) {
  INFO("axis " << axis << ", " << name(type));
  std::vector<Datum> inputs;
  for (const Dims& dims : shapes) inputs.emplace_back(uniform(dims, 0, 100, type, inputs.size() + 1));
  OpOptions options;
  options.attrs = {{"axis", axis, ""}};
  require_as_reference("Concat", inputs, options, 0);
}

}  // namespace

TEST_CASE("tensors of any type are joined along any axis") {
  for (const DType type : {DType::kF32, DType::kF64, DType::kI64, DType::kU8}) {
    require_joined({{2, 3, 4}, {2, 3, 4}}, 0, type);
    require_joined({{2, 3, 4}, {2, 1, 4}, {2, 5, 4}}, 1, type);
    require_joined({{2, 3, 4}, {2, 3, 1}}, -1, type);
  }
  require_joined({{7}, {1}, {300}}, 0, DType::kF32);
  require_joined({{5, 90, 70}, {5, 20, 70}}, 1, DType::kF32);  // enough for several threads
}

TEST_CASE("an empty tensor adds nothing to a join") {
  OpOptions options;
  options.attrs = {{"axis", int64_t{0}, ""}};
  options.backend = cpu_with_fallback().release();
  const std::unique_ptr<Backend> cpu(options.backend);
  require_close(run_op("Concat", {tensor({2}, {1, 2}), tensor({0}, {}), tensor({1}, {3})}, options),
                tensor({3}, {1, 2, 3}));
}

TEST_CASE("tensors of different ranks are not joined") {
  OpOptions options;
  options.attrs = {{"axis", int64_t{2}, ""}};
  options.backend = cpu_with_fallback().release();
  const std::unique_ptr<Backend> cpu(options.backend);
  for (const Dims& other : {Dims{}, Dims{4}, Dims{1, 2, 3, 4}})
    CHECK_THROWS_AS(
        run_op("Concat", {uniform({2, 3, 4}, 0, 1, DType::kF32, 1), uniform(other, 0, 1, DType::kF32, 2)}, options),
        Error);
}

TEST_CASE("what is joined may be made in its place, unless it is read elsewhere or twice") {
  Net net;
  Value* x = net.input({1, 4, 3, 3});
  Value *a = net.op("Relu", {net.op("Neg", {x})}), *b = net.op("Exp", {x}), *c = net.op("Abs", {x});
  const std::vector<Attr> axis{{"axis", int64_t{1}, ""}};
  Value* first = net.op("Concat", {a, b, b}, axis);
  Value* half = net.op(
      "Slice", {c, net.constant(Tensor::ints({2})), net.constant(Tensor::ints({4})), net.constant(Tensor::ints({1}))});
  Value* second = net.op("Concat", {net.op("Sigmoid", {first}), half, net.op("Tanh", {a})}, axis);
  net.output(net.op("Concat", {x, net.op("Neg", {second}), c}, axis));
  net.output(net.op("Concat", {net.op("Relu", {second}), net.op("Neg", {b})}, axis));
  require_same_result(net.model, 1e-6, true);
}

}  // namespace mlopt::test
