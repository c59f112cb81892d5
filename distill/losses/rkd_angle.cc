#include "distill/losses.h"
#include "distill/ops.h"
#include "distill/relations.h"

namespace mlopt::distill {
namespace {

/// [N, N, N]: the cosine of the angle at sample i between samples j and k,
/// (x_j - x_i) . (x_k - x_i) / (|x_j - x_i| |x_k - x_i|), and 0 where one of them is sample i or its like.
Value* cosines(train::Builder& b, Value* x) {
  const Relations r = relations(b, x);
  const int64_t n = train::Builder::dims(r.products)[0];
  const auto at = [&](Value* v, const Dims& dims) { return reshaped(b, v, dims); };
  Value* own = sum(b, square(b, rows(b, x)), {1});  // x_i . x_i
  Value* dots = b.op("Sub", {at(r.products, {1, n, n}), at(r.products, {n, n, 1})});
  dots = b.op("Add", {b.op("Sub", {dots, at(r.products, {n, 1, n})}), at(own, {n, 1, 1})});
  Value* none = b.op("Sub", {b.number(1, x->type.dtype), r.apart});
  Value* inverse = b.op("Div", {r.apart, b.op("Add", {r.distance, none})});
  return b.op("Mul", {b.op("Mul", {dots, at(inverse, {n, n, 1})}), at(inverse, {n, 1, n})});
}

}  // namespace

Value* rkd_angle_loss(PairArgs& args) {
  return mean_huber(args.build, cosines(args.build, args.student), cosines(args.build, args.teacher));
}

}  // namespace mlopt::distill
