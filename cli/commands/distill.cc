#include <memory>

#include "cli/commands.h"
#include "cli/distill/steps.h"

namespace mlopt::cli {
namespace {

Action setup(Options& options) {
  const auto o = std::make_shared<DistillOptions>();
  declare_distill(options, *o);
  return [o](Session& session) {
    check_data_free(*o);
    if (o->data_free) o->train.verb.data.spec = o->train.val;  // what the result is compared and scored on
    run_training(o->train, distill_steps(o, session), session);
  };
}

}  // namespace

Command distill_command() {
  return {.name = "distill",
          .arguments = "STUDENT --teacher MODEL -o OUT --data SPEC",
          .summary = "train a network to follow a better one, with labels or without",
          .examples = {{{"distill small.onnx --teacher large.onnx -o better.onnx --data images:train/,resize=224x224 "
                         "--val images:val/,resize=224x224 --metric top1 --epochs 30 --optimizer sgd --lr 0.1",
                         "a small classifier learns from a large one and from labels"},
                        {"distill bert.onnx --student layers=0/2/4/6/8/10 -o half.onnx --data texts.npz --epochs 3",
                         "half of the layers of a transformer, taught by the whole"}}},
          .setup = setup,
          .parallel = true};
}

}  // namespace mlopt::cli
