#include "core/train/losses.h"
#include "core/train/scores.h"

namespace mlopt::train {

/// softplus(x) - x * label, which no x makes infinite.
LossGraph bce_loss(LossArgs& args) {
  Builder& b = args.build;
  Value* labels = add_labels(args, args.output->type.dtype, Builder::dims(args.output));
  Value* scores = before_sigmoid(args.output);
  return {labels, b.mean(b.op("Sub", {b.op("Softplus", {scores}), b.op("Mul", {scores, labels})})), {}, 0, true};
}

}  // namespace mlopt::train
