#include "core/ir/infer.h"
#include "core/rewrite/qdq/passes.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"
#include "tests/support/rewrite.h"

namespace mlopt::test {
namespace {

struct Stored {
  int64_t n = 5, k = 40, block = 16, bits = 4;
  bool zeros = true, bias = true;
};

Net nbits(const Stored& s) {
  Net net;
  net.model.set_opset("com.microsoft", 1);
  const int64_t blocks = (s.k + s.block - 1) / s.block;
  const auto bytes = [&](const Dims& dims, uint64_t seed) {
    return net.constant(uniform(dims, 0, 255, DType::kU8, seed));
  };
  std::vector<Value*> inputs = {net.input({2, 3, s.k}), bytes({s.n, blocks, s.block * s.bits / 8}, 3),
                                net.constant(uniform({s.n, blocks}, 0.1, 0.3))};
  inputs.push_back(s.zeros ? bytes({s.n, (blocks * s.bits + 7) / 8}, 4) : nullptr);
  inputs.push_back(nullptr);
  if (s.bias) inputs.push_back(net.constant(uniform({s.n}, -1, 1)));
  net.output(net.graph()
                 .add_op("MatMulNBits", inputs,
                         {{"N", s.n, ""}, {"K", s.k, ""}, {"block_size", s.block, ""}, {"bits", s.bits, ""}}, nullptr,
                         "y", 1, "com.microsoft")
                 ->output(0));
  return net;
}

Net bnb4(int64_t kind) {
  Net net;
  net.model.set_opset("com.microsoft", 1);
  const int64_t n = 5, k = 24, block = 16;
  net.output(net.graph()
                 .add_op("MatMulBnb4",
                         {net.input({4, k}), net.constant(uniform({n * k / 2}, 0, 255, DType::kU8, 3)),
                          net.constant(uniform({(n * k + block - 1) / block}, 0.1, 0.3))},
                         {{"N", n, ""}, {"K", k, ""}, {"block_size", block, ""}, {"quant_type", kind, ""}}, nullptr,
                         "y", 1, "com.microsoft")
                 ->output(0));
  return net;
}

/// The operators of the model with floats, whose outputs are the same.
std::string widened(Net net) {
  infer(net.model);
  Model result = clone(net.model);
  run_pass(result, qdq::widen_blocks, pass_context());
  CHECK(changed_by(net.model, result).max_abs < 2e-5);
  return listed_ops(result);
}

}  // namespace

TEST_CASE("products by weights in blocks of a few bits become products by floats") {
  for (const Stored& s : {Stored{}, Stored{.bits = 2}, Stored{.bits = 8}, Stored{.zeros = false}, Stored{.bias = false},
                          Stored{.k = 64, .block = 64, .bits = 2}, Stored{.n = 33, .k = 100, .block = 32}}) {
    INFO(s.bits << " bits, blocks of " << s.block);
    CHECK(widened(nbits(s)) == (s.bias ? "Add 1, MatMul 1" : "MatMul 1"));
  }
  for (const int64_t kind : {0, 1}) CHECK(widened(bnb4(kind)) == "MatMul 1");
}

TEST_CASE("weights that are not what the attributes say are left to the one who says so") {
  Net net = nbits({});
  net.graph().nodes().back()->set_attr("K", int64_t{80});
  CHECK(run_pass(net.model, qdq::widen_blocks, pass_context()).applied == 0);
}

}  // namespace mlopt::test
