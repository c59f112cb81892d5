#include "core/train/losses.h"

namespace mlopt::train {

LossGraph l1_loss(LossArgs& args) {
  Value* labels = add_labels(args, args.output->type.dtype, Builder::dims(args.output));
  return {labels, args.build.mean(args.build.op("Abs", {args.build.op("Sub", {args.output, labels})}))};
}

}  // namespace mlopt::train
