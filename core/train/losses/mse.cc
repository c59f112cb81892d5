#include "core/train/losses.h"

namespace mlopt::train {

LossGraph mse_loss(LossArgs& args) {
  Value* labels = add_labels(args, args.output->type.dtype, Builder::dims(args.output));
  Value* off = args.build.op("Sub", {args.output, labels});
  return {labels, args.build.mean(args.build.op("Mul", {off, off}))};
}

}  // namespace mlopt::train
