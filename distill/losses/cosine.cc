#include "distill/losses.h"
#include "distill/ops.h"

namespace mlopt::distill {

Value* cosine_loss(PairArgs& args) {
  const Fitted pair = fitted(args, false);
  train::Builder& b = args.build;
  const Dims dims = train::Builder::dims(pair.student);
  if (dims.size() < 2) shapes_error(args, "this loss takes states of at least two axes");
  Value* product = b.op("Mul", {normalized(b, pair.student), normalized(b, pair.teacher)});
  return b.op("Sub", {b.number(1, product->type.dtype), scaled(b, b.mean(product), static_cast<double>(dims.back()))});
}

}  // namespace mlopt::distill
