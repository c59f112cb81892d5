#include <memory>

#include "cli/commands.h"
#include "cli/train/run.h"

namespace mlopt::cli {
namespace {

Action setup(Options& options) {
  const auto o = std::make_shared<TrainOptions>();
  declare_train(options, *o);
  return [o](Session& session) { run_training(*o, {}, session); };
}

}  // namespace

Command train_command() {
  return {.name = "train",
          .arguments = "MODEL -o OUT --data SPEC",
          .summary = "train an ONNX model on labelled data, from its weights or from random ones",
          .examples = {{{"train resnet.onnx -o tuned.onnx --data images:train/,resize=224x224 --val "
                         "images:val/,resize=224x224 --metric top1 --epochs 3 --lr 0.0001",
                         "fine-tune a classifier"},
                        {"train mlp.onnx -o mlp2.onnx --data csv:iris.csv --epochs 50 --reset-weights --metric top1",
                         "train from random weights"}}},
          .setup = setup,
          .parallel = true};
}

}  // namespace mlopt::cli
