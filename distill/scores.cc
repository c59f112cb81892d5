#include "distill/scores.h"

#include "core/tensor/dims.h"

namespace mlopt::distill {
namespace {

/// Does a linear layer or a softmax give it?
bool is_of_scores(const Value& output) {
  const Node* node = output.producer;
  if (node && (node->is("Add") || node->is("Identity")))
    for (const Value* in : node->inputs())
      if (in && in->producer) node = in->producer;
  if (!node) return false;
  return node->is("MatMul") || node->is("Gemm") || node->is("Softmax") || node->is("LogSoftmax");
}

}  // namespace

const Value* scores_behind(const Value* output) {
  const Node* node = output->producer;
  if (!node || !node->is("Softmax") || !output->type.dims) return output;
  const auto rank = static_cast<int64_t>(output->type.dims->size());
  const Attr* axis = node->attr("axis");
  const int64_t along = axis ? std::get<int64_t>(axis->value) : rank == 2 ? 1 : -1;
  return along == rank - 1 || along == -1 ? node->input(0) : output;
}

const LossDef& usual_loss(const Value& output) {
  const auto dims = output.type.static_dims().value_or(Dims{});
  const bool sigmoid = output.producer && output.producer->is("Sigmoid");
  const bool classes = dims.size() == 2 ? !sigmoid : dims.size() == 3 && is_of_scores(output);
  return find_loss(classes && dims.back() > 1 ? "kl" : "mse", "--soft");
}

}  // namespace mlopt::distill
