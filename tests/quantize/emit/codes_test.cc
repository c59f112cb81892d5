#include "quantize/emit/codes.h"

#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {

TEST_CASE("layers that share a weight share its codes, unless the scales differ") {
  Net net;
  quantize::CodeWriter writer(net.graph());
  const Tensor tensor = uniform({4, 3}, -1, 1);
  const Value* w = net.constant(tensor);
  const auto narrow = quantize::quantize_weight(tensor, 0), wide = quantize::quantize_weight(tensor, 0, {1, 1, 1, 1});
  const quantize::Stored first = writer.store(w, narrow, 0);
  CHECK(writer.store(w, narrow, 0).codes == first.codes);
  CHECK(writer.store(w, wide, 0).codes != first.codes);
  CHECK(writer.store(net.constant(tensor), narrow, 0).codes != first.codes);
}

TEST_CASE("what codes stand for, and values that are rounded, have names of their own and types") {
  Net net;
  quantize::CodeWriter writer(net.graph());
  Value* x = net.input({2, 3});
  const Tensor w = uniform({3, 5}, -1, 1);
  const quantize::Stored stored = writer.store(net.constant(w), quantize::quantize_weight(w, 1), 1);
  const Value* back = writer.dequantized(nullptr, stored, "w", 1);
  CHECK(back->name == "w_dequantized");
  CHECK(back->producer->attr("axis") != nullptr);
  CHECK(to_string(back->type) == to_string(Type::tensor(DType::kF32, Dims{3, 5})));
  Value *scale = net.constant(tensor({}, {0.5})), *zero = net.constant(tensor({}, {3}, DType::kU4));
  const auto [q, dq] = writer.rounded(x, scale, zero, nullptr);
  CHECK(q->name == q->output(0)->name);
  CHECK(q->output(0)->type.dtype == DType::kU4);
  CHECK(dq->input(0) == q->output(0));
  CHECK(to_string(dq->output(0)->type) == to_string(x->type));
}

}  // namespace mlopt::test
