#include <algorithm>

#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

struct Shape {
  Dims rows;
  int64_t n, k, block;
  bool zeros;
  int64_t bits = 4;
};

/// x [rows, k] times codes.
Net net_of(const Shape& s) {
  Net net;
  net.model.set_opset("com.microsoft", 1);
  const int64_t blocks = (s.k + s.block - 1) / s.block;
  const double step = 1.0 / static_cast<double>(int64_t{1} << s.bits);
  Dims x = s.rows;
  x.push_back(s.k);
  std::vector<Value*> inputs{net.input(x),
                             net.constant(uniform({s.n, blocks, s.block * s.bits / 8}, 0, 255, DType::kU8, 3)),
                             net.constant(uniform({s.n, blocks}, step, 3 * step))};
  if (s.zeros) inputs.push_back(net.constant(uniform({s.n, (blocks * s.bits + 7) / 8}, 0, 255, DType::kU8, 4)));
  const std::vector<Attr> attrs{{"N", s.n, ""}, {"K", s.k, ""}, {"block_size", s.block, ""}, {"bits", s.bits, ""}};
  net.output(net.graph().add_op("MatMulNBits", inputs, attrs, nullptr, "y", 1, "com.microsoft")->output(0));
  return net;
}

/// Does the plan multiply by codes?
bool by_codes(const Net& net) {
  CompileOptions options;
  options.profile = true;
  const auto executable = cpu_with_fallback()->compile(net.model, options);
  (void)executable->run(std::vector<Datum>{uniform(*net.model.graph->inputs()[0]->type.static_dims(), -1, 1)});
  const auto steps = executable->profile();
  return std::any_of(steps.begin(), steps.end(), [](const auto& s) { return s.kernel == "codes"; });
}

}  // namespace

TEST_CASE("few rows are multiplied by codes as by the floats that they mean") {
  for (const int64_t n : {1, 5, 64, 130})
    for (const auto& [k, block] : {std::pair<int64_t, int64_t>{16, 16}, {40, 16}, {128, 32}, {100, 64}})
      for (const int64_t rows : {1, 3, 4}) {
        INFO(rows << " rows, " << n << " of " << k << " in blocks of " << block);
        const Net net = net_of({{rows}, n, k, block, n != 5, n == 64 ? 8 : n == 1 ? 2 : 4});
        CHECK(by_codes(net));
        require_same_result(net.model, 2e-5, true);
      }
}

TEST_CASE("more rows are multiplied by floats") {
  CHECK(by_codes(net_of({{2, 1, 2}, 64, 64, 32, false})));
  const Net many = net_of({{5, 1}, 64, 64, 32, true});
  CHECK_FALSE(by_codes(many));
  require_same_result(many.model, 2e-5, true);
}

TEST_CASE("rows that are not as long as the weights are an error") {
  for (const int64_t length : {80, 32}) {
    INFO(length);
    Net net = net_of({{1}, 5, 40, 16, false});
    net.model.graph->inputs()[0]->type = Type::tensor(DType::kF32, SymDims{1, length});
    REQUIRE_THROWS_WITH(
        cpu_with_fallback()->compile(net.model, {})->run(std::vector<Datum>{uniform({1, length}, -1, 1)}),
        Catch::Contains("inner dimensions differ"));
  }
}

}  // namespace mlopt::test
