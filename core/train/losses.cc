#include "core/train/losses.h"

#include "core/base/named.h"

namespace mlopt::train {

namespace {

constexpr LossDef kLosses[] = {
    {"cross-entropy", "softmax and cross-entropy of class scores; labels are classes", cross_entropy_loss, true},
    {"next-token", "the same for each position of a sequence; labels are the tokens that come next", next_token_loss,
     true},
    {"mse", "mean squared error; labels have the shape of the output", mse_loss},
    {"l1", "mean absolute error; labels have the shape of the output", l1_loss},
    {"bce", "sigmoid and binary cross-entropy; labels from 0 to 1 have the shape of the output", bce_loss},
};

}  // namespace

std::span<const LossDef> losses() { return kLosses; }

const LossDef* find_loss(std::string_view name) { return find_named(losses(), name); }

Value* add_labels(LossArgs& args, DType type, const Dims& dims) {
  Graph& graph = args.build.graph();
  return graph.add_input(graph.fresh_name("train/labels"), Type::tensor(type, dims));
}

}  // namespace mlopt::train
