#include "distill/relations.h"

#include "distill/ops.h"

namespace mlopt::distill {
namespace {

/// The diagonal of [N, N] as [N, 1].
Value* squared_norms(train::Builder& b, Value* vectors) { return sum(b, square(b, vectors), {1}); }

}  // namespace

Relations relations(train::Builder& b, Value* x) {
  constexpr double kSame = 1e-6;  // of the squared norms: below it the difference is rounding, of no direction
  const DType type = x->type.dtype;
  const auto number = [&](double value) { return b.number(value, type); };
  const auto transposed = [&](Value* v) { return b.op("Transpose", {v}, {{"perm", std::vector<int64_t>{1, 0}, {}}}); };
  Relations r;
  Value* vectors = rows(b, x);
  r.products = b.op("MatMul", {vectors, transposed(vectors)});
  Value* norms = squared_norms(b, vectors);
  Value* both = b.op("Add", {norms, transposed(norms)});
  Value* squares = b.op("Sub", {both, scaled(b, r.products, 2)});
  Value* apart = b.op("Greater", {squares, scaled(b, both, kSame)});
  r.apart = b.op("Cast", {apart}, {{"to", static_cast<int64_t>(type), {}}});
  // Where nothing lies between them the root of 1 is taken, whose slope is finite, and left out.
  Value* safe = b.op("Where", {apart, squares, number(1)});
  r.distance = b.op("Mul", {b.op("Sqrt", {safe}), r.apart});
  return r;
}

Value* mean_huber(train::Builder& b, Value* x, Value* y) {
  Value* off = b.op("Abs", {b.op("Sub", {x, y})});
  Value* capped = b.op("Min", {off, b.number(1, off->type.dtype)});
  return b.mean(b.op("Mul", {capped, b.op("Sub", {off, scaled(b, capped, 0.5)})}));
}

}  // namespace mlopt::distill
