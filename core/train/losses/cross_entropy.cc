#include <fmt/core.h>

#include "core/base/error.h"
#include "core/train/losses.h"
#include "core/train/scores.h"

namespace mlopt::train {
namespace {

/// Mean over the rows of what labels pick of the scores [N, classes].
Value* mean_at(LossArgs& args, Value* scores, Value* labels) {
  if (is_float(labels->type.dtype)) {
    const auto classes = static_cast<double>(Builder::dims(scores)[1]);
    Value* each = args.build.mean(args.build.op("Mul", {scores, labels}));
    return args.build.op("Mul", {each, args.build.number(classes, scores->type.dtype)});
  }
  const int64_t rows = Builder::dims(labels)[0];
  Value* column = args.build.op("Reshape", {labels, args.build.indices({rows, 1})});
  return args.build.mean(args.build.op("GatherElements", {scores, column}, {{"axis", int64_t{1}, {}}}));
}

}  // namespace

Value* mean_cross_entropy(LossArgs& args, Value* logits, Value* labels) {
  Builder& b = args.build;
  const DType type = logits->type.dtype;
  Value* scores = b.op("LogSoftmax", {logits}, {{"axis", int64_t{1}, {}}});
  Value* sure = b.op("Mul", {mean_at(args, scores, labels), b.number(args.label_smoothing - 1, type)});
  if (args.label_smoothing == 0) return sure;
  return b.op("Sub", {sure, b.op("Mul", {b.mean(scores), b.number(args.label_smoothing, type)})});
}

LossGraph cross_entropy_loss(LossArgs& args) {
  const Dims dims = Builder::dims(args.output);
  if (dims.size() != 2)
    input_error(fmt::format("cross-entropy needs class scores [batch, classes], not {}", to_string(dims)),
                fmt::format("output '{}'", args.output->name), "choose another --loss, or another --loss-output");
  Value* labels =
      args.mixed ? add_labels(args, args.output->type.dtype, dims) : add_labels(args, DType::kI64, {dims[0]});
  Value* scores = before_softmax(args.output, 1, args.build.opset());
  return {labels, mean_cross_entropy(args, scores, labels), {}, dims[1]};
}

}  // namespace mlopt::train
