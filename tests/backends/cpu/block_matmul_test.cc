#include <algorithm>
#include <limits>

#include "backends/cpu/backend.h"
#include "backends/reference/backend.h"
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
  bool bias = false;
  int64_t level = 0;
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
                             net.constant(uniform({s.n, blocks}, step, 3 * step)), nullptr};
  if (s.zeros) inputs[3] = net.constant(uniform({s.n, (blocks * s.bits + 7) / 8}, 0, 255, DType::kU8, 4));
  if (s.bias) inputs.insert(inputs.end(), {nullptr, net.constant(uniform({s.n}, -1, 1))});
  const std::vector<Attr> attrs{{"N", s.n, ""},
                                {"K", s.k, ""},
                                {"block_size", s.block, ""},
                                {"bits", s.bits, ""},
                                {"accuracy_level", s.level, ""}};
  net.output(net.graph().add_op("MatMulNBits", inputs, attrs, nullptr, "y", 1, "com.microsoft")->output(0));
  return net;
}

/// Of nf4 (kind 1) or fp4.
Net levels_of(const Dims& rows, int64_t n, int64_t k, int64_t block, int64_t kind) {
  Net net;
  net.model.set_opset("com.microsoft", 1);
  Dims x = rows;
  x.push_back(k);
  std::vector<Value*> inputs{net.input(x), net.constant(uniform({n * k / 2}, 0, 255, DType::kU8, 3)),
                             net.constant(uniform({(n * k + block - 1) / block}, 0.1, 0.3))};
  const std::vector<Attr> attrs{{"N", n, ""}, {"K", k, ""}, {"block_size", block, ""}, {"quant_type", kind, ""}};
  net.output(net.graph().add_op("MatMulBnb4", inputs, attrs, nullptr, "y", 1, "com.microsoft")->output(0));
  return net;
}

/// The kernel of the product in the plan.
std::string kernel_of(const Net& net) {
  CompileOptions options;
  options.profile = true;
  const auto executable = cpu_with_fallback()->compile(net.model, options);
  (void)executable->run(std::vector<Datum>{uniform(*net.model.graph->inputs()[0]->type.static_dims(), -1, 1)});
  return executable->profile().front().kernel;
}

}  // namespace

TEST_CASE("few rows are multiplied by codes as by the floats that they mean") {
  for (const int64_t n : {1, 5, 64, 130})
    for (const auto& [k, block] : {std::pair<int64_t, int64_t>{16, 16}, {40, 16}, {128, 32}, {100, 64}})
      for (const int64_t rows : {1, 3, 4, 11}) {
        INFO(rows << " rows, " << n << " of " << k << " in blocks of " << block);
        const Net net = net_of({{rows}, n, k, block, n != 5, n == 64 ? 8 : n == 1 ? 2 : 4, n == 130});
        CHECK(kernel_of(net) == "codes");
        require_same_result(net.model, 2e-5, true);
      }
}

TEST_CASE("more rows are multiplied by codes that become floats piece by piece") {
  for (const int64_t n : {1, 5, 64, 130})
    for (const auto& [k, block] : {std::pair<int64_t, int64_t>{40, 16}, {128, 32}, {700, 64}, {1600, 256}})
      for (const int64_t rows : {13, 40, 300}) {
        INFO(rows << " rows, " << n << " of " << k << " in blocks of " << block);
        const Net net = net_of({{rows}, n, k, block, n != 5, n == 64 ? 8 : n == 1 ? 2 : 4, n == 130});
        CHECK(kernel_of(net) == "tiles of codes");
        require_same_result(net.model, 2e-4, true);
      }
}

TEST_CASE("rows that the accuracy level rounds are multiplied as the reference rounds them") {
  for (const int64_t bits : {2, 4, 8})
    for (const auto& [k, block] : {std::pair<int64_t, int64_t>{100, 16}, {128, 32}, {300, 256}})
      for (const int64_t rows : {1, 7, 40}) {
        INFO(rows << " rows, " << bits << " bits of " << k << " in blocks of " << block);
        const Net net = net_of({{rows}, 70, k, block, rows != 7, bits, true, 4});
        CHECK(kernel_of(net) == (bits == 4 ? "codes and bytes" : rows < 40 ? "codes" : "tiles of codes"));
        require_same_result(net.model, 2e-4, true);
      }
}

TEST_CASE("codes of levels from a list are multiplied as the floats that they mean") {
  for (const int64_t kind : {0, 1})
    for (const int64_t rows : {1, 6, 30})
      for (const auto& [k, block] : {std::pair<int64_t, int64_t>{64, 16}, {24, 16}, {200, 64}}) {
        INFO(rows << " rows of " << k << " in blocks of " << block);
        require_same_result(levels_of({rows}, 70, k, block, kind).model, 2e-5, true);
      }
}

TEST_CASE("batches of rows, no rows, and one row without an axis of rows") {
  CHECK(kernel_of(net_of({{2, 3, 2}, 64, 64, 32, false})) == "codes");
  require_same_result(net_of({{2, 3, 2}, 64, 64, 32, false}).model, 2e-5, true);
  require_same_result(net_of({{}, 70, 64, 32, true}).model, 2e-5, true);
  const Net none = net_of({{0, 2}, 5, 64, 32, true});
  const auto out = cpu_backend({}, nullptr)
                       ->compile(none.model, {})
                       ->run(std::vector<Datum>{Tensor::zeros(DType::kF32, {0, 2, 64})});
  CHECK(out.front().tensor().dims() == Dims{0, 2, 5});
}

TEST_CASE("weights that share their codes keep scales of their own") {
  Net net;
  net.model.set_opset("com.microsoft", 1);
  Value *x = net.input({2, 32}), *codes = net.constant(uniform({6, 2, 8}, 0, 255, DType::kU8, 3));
  for (const double scale : {0.1, 0.7})
    net.output(net.graph()
                   .add_op("MatMulNBits", {x, codes, net.constant(uniform({6, 2}, scale, 2 * scale))},
                           {{"N", int64_t{6}, ""}, {"K", int64_t{32}, ""}, {"block_size", int64_t{16}, ""}}, nullptr,
                           "y", 1, "com.microsoft")
                   ->output(0));
  require_same_result(net.model, 2e-5, true);
}

TEST_CASE("an infinity stays one where no zero point takes anything off") {
  const Net net = net_of({{1}, 5, 32, 16, false, 8});
  Tensor x = uniform({1, 32}, -1, 1);
  x.mutable_data<float>()[3] = std::numeric_limits<float>::infinity();
  const auto got = cpu_backend({}, nullptr)->compile(net.model, {})->run(std::vector<Datum>{x});
  const auto expected = reference_backend()->compile(net.model, {})->run(std::vector<Datum>{x});
  require_close(got.front().tensor(), expected.front().tensor(), 2e-5);
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
