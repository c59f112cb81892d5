#include <fmt/core.h>

#include "core/base/error.h"
#include "core/train/losses.h"
#include "core/train/scores.h"

namespace mlopt::train {

LossGraph next_token_loss(LossArgs& args) {
  const Dims dims = Builder::dims(args.output);
  if (dims.size() != 3)
    input_error(fmt::format("next-token needs scores [batch, positions, tokens], not {}", to_string(dims)),
                fmt::format("output '{}'", args.output->name), "choose another --loss, or another --loss-output");
  if (args.mixed)
    usage_error("mixup mixes numbers, and a sequence of tokens has none to mix", "--augment",
                "leave mixup out, or choose another --loss");
  Builder& b = args.build;
  const int64_t rows = dims[0] * dims[1];
  Value* labels = add_labels(args, DType::kI64, {dims[0], dims[1]});
  Value* scores = b.op("Reshape", {before_softmax(args.output, 2, b.opset()), b.indices({rows, dims[2]})});
  return {labels, mean_cross_entropy(args, scores, b.op("Reshape", {labels, b.indices({rows})})), {}, dims[2]};
}

}  // namespace mlopt::train
