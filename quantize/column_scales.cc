#include "quantize/column_scales.h"

#include <algorithm>
#include <unordered_map>

#include "core/calib/features.h"
#include "core/ir/view.h"
#include "core/tensor/cast.h"
#include "quantize/emit/stored_product.h"

namespace mlopt::quantize {
namespace {

bool is_normalization(const Node& node) {
  return node.op == "LayerNormalization" || node.op == "SimplifiedLayerNormalization" || node.op == "RMSNormalization";
}

/// The input whose constant vector the node applies to each feature; nothing where there is none of this length.
Value* vector_input(const Node& node, int64_t columns, std::initializer_list<int> inputs) {
  for (const int i : inputs) {
    Value* v = node.input(i);
    if (v && v->known_constant() && v->constant->dims() == Dims{columns}) return v;
  }
  return nullptr;
}

/// The constants that a division of `value` goes into, each with its reader; empty where it goes into none.
std::vector<std::pair<Node*, Value*>> makers(const Value& value, int64_t columns) {
  std::vector<std::pair<Node*, Value*>> found;
  Node* node = value.producer;
  if (node && node->is("Add")) {
    Value* bias = vector_input(*node, columns, {0, 1});
    if (!bias) return {};
    found.emplace_back(node, bias);
    const Value* scaled = node->input(node->input(0) == bias ? 1 : 0);
    if (!scaled || !scaled->single_use()) return {};
    node = scaled->producer;
    if (!node || !node->is("Mul")) return {};
  }
  if (!node) return {};
  const bool normalizes = is_normalization(*node) && (found.empty() || !node->input(2));
  if (!normalizes && !node->is("Mul")) return {};
  Value* scale = normalizes ? vector_input(*node, columns, {1}) : vector_input(*node, columns, {0, 1});
  if (!scale) return {};
  found.emplace_back(node, scale);
  if (normalizes && node->input(2)) {
    Value* bias = vector_input(*node, columns, {2});
    if (!bias) return {};
    found.emplace_back(node, bias);
  }
  return found;
}

/// Nothing but the readers of the weights reads it.
bool is_theirs(const SharedInput& input, std::span<const Weight> weights) {
  if (input.value->is_output()) return false;
  return std::all_of(input.value->uses.begin(), input.value->uses.end(), [&](const Use& use) {
    return std::any_of(input.weights.begin(), input.weights.end(), [&](size_t i) {
      const auto& readers = weights[i].readers;
      return use.index == data_operand(weights[i]) &&
             std::find(readers.begin(), readers.end(), use.node) != readers.end();
    });
  });
}

Tensor divided(const Tensor& vector, const std::vector<float>& scale) {
  std::vector<float> numbers = to_floats(vector);
  for (size_t c = 0; c < numbers.size(); ++c) numbers[c] /= scale[c];
  return cast(Tensor::of<float>(vector.dims(), numbers), vector.dtype());
}

void divide_input(const SharedInput& input, std::span<const Weight> weights, const std::vector<float>& scale) {
  Graph& graph = *input.value->graph;
  if (folds_division(input, weights)) {
    for (const auto& [node, constant] : makers(*input.value, static_cast<int64_t>(scale.size()))) {
      Value* changed = graph.add_constant(constant->name + "_divided", divided(*constant->constant, scale));
      for (int i = 0; i < static_cast<int>(node->inputs().size()); ++i)
        if (node->input(i) == constant) graph.set_input(node, i, changed);
    }
    return;
  }
  const Tensor ones = Tensor::of<float>({static_cast<int64_t>(scale.size())}, std::vector<float>(scale.size(), 1));
  Value* inverse = graph.add_constant(input.value->name + "_inverse_scale", divided(ones, scale));
  const Node* after = input.value->producer;
  Node* mul = graph.add_op("Mul", {input.value, inverse}, {}, graph.next(after), input.value->name + "_scaled");
  mul->name = mul->output(0)->name;
  mul->output(0)->type = input.value->type;
  for (const size_t i : input.weights)
    for (const Node* reader : weights[i].readers)
      graph.set_input(const_cast<Node*>(reader), data_operand(weights[i]), mul->output(0));
}

void scale_observed(Observed& seen, const std::vector<float>& scale) {
  const size_t columns = scale.size();
  for (size_t i = 0; i < seen.squares.size(); ++i)
    seen.squares[i] /= static_cast<double>(scale[i % columns]) * static_cast<double>(scale[i % columns]);
  for (size_t i = 0; i < seen.peaks.size(); ++i) seen.peaks[i] /= scale[i % columns];
  for (SharedSums& sums : seen.products) {
    std::vector<float>& products = sums.own();
    for (size_t i = 0; i < products.size(); ++i) products[i] /= scale[i / columns] * scale[i % columns];
  }
}

}  // namespace

std::vector<SharedInput> shared_inputs(std::span<const Weight> weights) {
  std::vector<SharedInput> shared;
  std::unordered_map<const Value*, size_t> place;
  for (size_t i = 0; i < weights.size(); ++i) {
    const Weight& w = weights[i];
    const bool product = w.op == "MatMul" || (w.op == "Gemm" && !NodeView(*w.readers[0], 0).get_int("transA", 0));
    if (!product || w.operand != 1 || w.kernel != 1 || w.groups != 1) continue;
    if (read_by_others(w)) continue;  // to whom the columns would be scaled, and no input divided
    Value* value = w.readers[0]->input(0);
    const bool one =
        std::all_of(w.readers.begin(), w.readers.end(), [&](const Node* n) { return n->input(0) == value; });
    if (!one || value->constant || value->type.dtype != DType::kF32 || value->graph != w.readers[0]->graph()) continue;
    const auto [at, is_new] = place.try_emplace(value, shared.size());
    if (is_new) shared.push_back({value, {}});
    shared[at->second].weights.push_back(i);
  }
  return shared;
}

bool folds_division(const SharedInput& input, std::span<const Weight> weights) {
  return is_theirs(input, weights) && !makers(*input.value, weights[input.weights[0]].columns).empty();
}

void scale_columns(const SharedInput& input, std::span<const Weight> weights, std::span<Observed> seen,
                   const std::vector<float>& scale) {
  for (const size_t i : input.weights) {
    Matrix values = load(weights[i]);
    for (int64_t r = 0; r < values.rows; ++r)
      for (int64_t c = 0; c < values.columns; ++c) values.at(r, c) *= scale[static_cast<size_t>(c)];
    store(weights[i], values);
    if (!seen.empty()) scale_observed(seen[i], scale);
  }
  divide_input(input, weights, scale);
}

}  // namespace mlopt::quantize
