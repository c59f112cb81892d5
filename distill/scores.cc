#include "distill/scores.h"

#include "core/tensor/dims.h"
#include "core/train/scores.h"

namespace mlopt::distill {
namespace {

/// Does a linear layer or a softmax give it?
bool is_of_scores(const Value& output) {
  const Node* node = output.producer;
  if (node && (node->is("Add") || node->is("Identity")))
    for (const Value* in : node->inputs())
      if (in && in->producer) node = in->producer;
  return node && (node->is("MatMul") || node->is("Gemm") || node->is("Softmax") || node->is("LogSoftmax"));
}

}  // namespace

Value* scores_behind(Value* output, int64_t opset) {
  if (!output->type.dims) return output;
  const auto rank = static_cast<int64_t>(output->type.dims->size());
  return train::before_softmax(output, rank == 4 ? 1 : rank - 1, opset);
}

const LossDef& usual_loss(const Value& output) {
  const auto dims = output.type.static_dims().value_or(Dims{});
  const bool sigmoid = output.producer && output.producer->is("Sigmoid");
  const bool classes = dims.size() == 2 ? !sigmoid : dims.size() == 3 && is_of_scores(output);
  return find_loss(classes && dims.back() > 1 ? "kl" : "mse", "--soft");
}

bool is_of_shares(const Value& output) {
  const Node* node = output.producer;
  return node && (node->is("Softmax") || node->is("LogSoftmax"));
}

}  // namespace mlopt::distill
