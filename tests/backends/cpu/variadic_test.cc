#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"

namespace mlopt::test {

TEST_CASE("two, three and more operands under every way to broadcast") {
  const std::vector<std::vector<Dims>> cases = {{{3, 70}, {3, 70}},
                                                {{3, 70}, {3, 70}, {3, 70}},
                                                {{4, 5, 9}, {1, 9}, {5, 1}, {}},
                                                {{4, 1, 9}, {5, 1}, {4, 5, 9}, {9}},
                                                {{2, 0}, {2, 1}, {1}}};
  for (const auto& dims : cases)
    for (const char* op : {"Max", "Min", "Mean", "Sum"}) {
      std::vector<Datum> inputs;
      for (const Dims& d : dims) inputs.emplace_back(uniform(d, -1, 1, DType::kF32, inputs.size() + 1));
      INFO(dims.size() << " operands, the first of " << to_string(dims[0]));
      require_as_reference(op, inputs, {}, 1e-6);
    }
}

TEST_CASE("NaN stays whichever operand has it") {
  const Tensor a = tensor({3}, {NAN, 1, 2}), b = tensor({3}, {1, NAN, 2}), c = tensor({3}, {1, 2, NAN});
  for (const char* op : {"Max", "Min", "Mean", "Sum"}) require_as_reference(op, {a, b, c}, {}, 0);
}

TEST_CASE("operands that grow only with the third, integers and one operand are left to the reference") {
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  const auto same = [&](const std::vector<Datum>& inputs) {
    require_close(run_op("Max", inputs, {.backend = cpu.get()}), run_op("Max", inputs), 0);
  };
  same({uniform({3, 1}, -1, 1), uniform({1}, -1, 1), uniform({3, 4}, -1, 1)});
  same({uniform({4}, 0, 9, DType::kI64), uniform({4}, 0, 9, DType::kI64, 2), uniform({4}, 0, 9, DType::kI64, 3)});
  same({uniform({4}, -1, 1)});
}

TEST_CASE("images in whatever layout") {
  Net net;
  Value* x = net.op("MaxPool", {net.op("Conv", {net.input({1, 3, 9, 8}), net.constant(uniform({6, 3, 3, 3}, -1, 1))})},
                    {{"kernel_shape", std::vector<int64_t>{2, 2}, ""}});
  net.output(net.op("Mean", {x, net.op("Neg", {x}), net.op("Tanh", {x}), net.constant(uniform({6, 1, 1}, -1, 1))}));
  require_same_result(net.model, 1e-5, true);
}

}  // namespace mlopt::test
