#include "quantize/layer_bias.h"

#include <algorithm>
#include <cmath>

#include "core/tensor/cast.h"

namespace mlopt::quantize {
namespace {

/// In place, so that the file gets no larger; a bias that readers share is not one to correct.
void put_bias(Graph& graph, Node* node, int index, Tensor numbers) {
  Value* old = node->input(index);
  if (old->is_initializer() && old->single_use()) {
    old->type = Type::tensor(numbers.dtype(), numbers.dims());
    old->constant = std::move(numbers);
    return;
  }
  graph.set_input(node, index, graph.add_constant(old->name + "_corrected", std::move(numbers)));
}

}  // namespace

int bias_index(const Node& node) {
  constexpr int kOfMatMulNBits = 5;
  if (node.is("Conv") || node.is("Gemm")) return 2;
  if (node.is("Add")) return 1;  // behind a product
  return node.is("MatMulNBits", "com.microsoft") ? kOfMatMulNBits : -1;
}

std::vector<double> add_to_bias(Graph& graph, Node* node, const std::vector<double>& change) {
  const auto at = [](size_t count, size_t c) { return count == 1 ? 0 : c; };
  const int index = bias_index(*node);
  Value* bias = node->input(index);
  if (!bias) return {};
  if (const Tensor* b = bias->known_constant(); b && b->dtype() == DType::kF32) {
    if (b->size() != 1 && (b->size() != std::ssize(change) || b->dims().back() != b->size())) return {};
    const std::vector<float> old = to_floats(*b);
    std::vector<float> numbers;
    for (size_t c = 0; c < change.size(); ++c)
      numbers.push_back(static_cast<float>(static_cast<double>(old[at(old.size(), c)]) + change[c]));
    put_bias(graph, node, index, Tensor::of<float>({std::ssize(numbers)}, numbers));
    return change;
  }
  Node* dq = bias->producer;
  if (!dq || !dq->is("DequantizeLinear") || !bias->single_use()) return {};
  const Tensor *codes = dq->input(0)->known_constant(), *scale = dq->input(1)->known_constant();
  if (!codes || !scale || codes->dtype() != DType::kI32 || codes->size() != std::ssize(change)) return {};
  const std::vector<float> steps = to_floats(*scale);
  Tensor moved(DType::kI32, codes->dims());
  int32_t* to = moved.mutable_data<int32_t>();
  std::vector<double> added;
  for (size_t c = 0; c < change.size(); ++c) {
    const auto step = static_cast<double>(steps[at(steps.size(), c)]),
               was = static_cast<double>(codes->data<int32_t>()[c]);
    to[c] = static_cast<int32_t>(std::clamp(was + std::nearbyint(change[c] / step), -2147483648.0, 2147483647.0));
    added.push_back((static_cast<double>(to[c]) - was) * step);
  }
  put_bias(graph, dq, 0, std::move(moved));
  return added;
}

}  // namespace mlopt::quantize
