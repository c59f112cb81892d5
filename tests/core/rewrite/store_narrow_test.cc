#include "core/rewrite/store_narrow.h"

#include <cmath>
#include <limits>

#include "core/ir/infer.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"
#include "tests/support/rewrite.h"

namespace mlopt::test {
namespace {

bool all(const Node&) { return true; }

}  // namespace

TEST_CASE("weights are stored in float16 behind a Cast, unless they are small, beyond its range or not wanted") {
  Net net;
  Tensor huge = uniform({16, 16}, -1, 1);
  huge.mutable_data<float>()[5] = 70000;
  Value* a = net.op("MatMul", {net.input({3, 16}), net.constant(uniform({16, 16}, -1, 1))});
  Value* b = net.op("Add", {a, net.constant(uniform({16}, -1, 1))});
  net.output(net.op("MatMul", {b, net.constant(std::move(huge))}));
  infer(net.model);
  Model model = clone(net.model);
  const Narrowed made = store_narrow(model, DType::kF16, 64, all);
  CHECK(listed_ops(model) == "Add 1, Cast 1, MatMul 2");
  CHECK(made.tensors == 1);
  CHECK(made.saved_bytes == 16 * 16 * 2);
  REQUIRE(made.left.size() == 1);
  CHECK(made.left.begin()->second == "it has numbers beyond the range of float16");
  const Difference d = changed_by(net.model, model);
  CHECK(d.max_abs > 0);
  CHECK(d.sqnr_db > 60);
  Model none = clone(net.model);
  CHECK(store_narrow(none, DType::kF16, 64, [](const Node&) { return false; }).tensors == 0);
  Model wide = clone(net.model);
  CHECK(store_narrow(wide, DType::kBF16, 64, all).tensors == 2);  // which has the range of float32
}

TEST_CASE("scales of codes stay as they are") {
  for (const DType type : {DType::kF16, DType::kBF16}) {
    Model model = fixture(R"(g (float[N,2] x, int8[2,64] c, uint8[64,1,8] q, float[64] S, float[64] T, float[64] B)
                               => (float[N,64] y) {
      w = DequantizeLinear <axis = 1> (c, S)
      m = MatMul (x, w)
      n = com.microsoft.MatMulNBits <K = 2, N = 64, bits = 4, block_size = 16> (x, q, T)
      a = Add (m, n)
      y = Add (a, B)
    })");
    CHECK(store_narrow(model, type, 64, all).tensors == 1);
    CHECK(model.graph->find("a")->uses[0].node->input(1)->producer->is("Cast"));
  }
}

TEST_CASE("bfloat16 keeps the largest numbers finite, which a mask means") {
  Net net;
  Tensor mask = uniform({8, 8}, -1, 1);
  mask.mutable_data<float>()[5] = std::numeric_limits<float>::lowest();
  net.output(net.op("Add", {net.input({8, 8}), net.constant(std::move(mask))}));
  infer(net.model);
  REQUIRE(store_narrow(net.model, DType::kBF16, 64, all).tensors == 1);
  for (const Value* v : net.graph().initializers())
    for (const float x : to_floats(*v->constant)) CHECK(std::isfinite(x));
}

}  // namespace mlopt::test
