#include "core/train/losses.h"

namespace mlopt::train {

/// softplus(x) - x * label, which no x makes infinite.
LossGraph bce_loss(LossArgs& args) {
  Builder& b = args.build;
  Value* labels = add_labels(args, args.output->type.dtype, Builder::dims(args.output));
  return {labels, b.mean(b.op("Sub", {b.op("Softplus", {args.output}), b.op("Mul", {args.output, labels})}))};
}

}  // namespace mlopt::train
