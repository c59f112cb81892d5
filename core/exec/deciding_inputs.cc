#include "core/exec/deciding_inputs.h"

#include <cstring>
#include <unordered_set>

namespace mlopt {
namespace {

/// Inputs `first` to `last` of the operator.
struct Operands {
  std::string_view op;
  int first, last;
};

constexpr Operands kDeciding[] = {
    {"AffineGrid", 1, 1},
    {"BlackmanWindow", 0, 0},
    {"CenterCropPad", 1, 1},
    {"Col2Im", 1, 2},
    {"Compress", 1, 1},
    {"ConstantOfShape", 0, 0},
    {"CumProd", 1, 1},
    {"CumSum", 1, 1},
    {"DFT", 1, 2},
    {"Dropout", 1, 2},
    {"Expand", 1, 1},
    {"GroupQueryAttention", 6, 6},
    {"HammingWindow", 0, 0},
    {"HannWindow", 0, 0},
    {"If", 0, 0},
    {"Loop", 0, 1},
    {"MaxUnpool", 2, 2},
    {"MelWeightMatrix", 0, 4},
    {"CountedSuppression", 2, 2},
    {"OneHot", 1, 1},
    {"Pad", 1, 3},
    {"Range", 0, 2},
    {"ReduceL1", 1, 1},
    {"ReduceL2", 1, 1},
    {"ReduceLogSum", 1, 1},
    {"ReduceLogSumExp", 1, 1},
    {"ReduceMax", 1, 1},
    {"ReduceMean", 1, 1},
    {"ReduceMin", 1, 1},
    {"ReduceProd", 1, 1},
    {"ReduceSum", 1, 1},
    {"ReduceSumSquare", 1, 1},
    {"Reshape", 1, 1},
    {"Resize", 1, 3},
    {"Slice", 1, 4},
    {"Split", 1, 1},
    {"SplitToSequence", 1, 1},
    {"Squeeze", 1, 1},
    {"STFT", 1, 1},
    {"STFT", 3, 3},
    {"Tile", 1, 2},
    {"TopK", 1, 1},
    {"Trilu", 1, 1},
    {"Unsqueeze", 1, 1},
    {"Upsample", 1, 1},
};

/// Larger ones are data, not parameters.
constexpr int64_t kMostElements = 1024;

/// Adds the graph inputs that the value is made of. Shapes are known without them.
void add_sources(const Value* value, std::unordered_set<const Value*>& seen) {
  std::vector<const Value*> open{value};
  while (!open.empty()) {
    const Value* v = open.back();
    open.pop_back();
    if (!v || v->constant || !seen.insert(v).second || !v->producer) continue;
    if (v->producer->is("Shape") || v->producer->is("Size")) continue;
    open.insert(open.end(), v->producer->inputs().begin(), v->producer->inputs().end());
  }
}

}  // namespace

std::vector<bool> deciding_inputs(const Graph& graph) {
  std::unordered_set<const Value*> sources;
  for (const Node* node : all_nodes(graph))
    for (const Operands& operands : kDeciding) {
      if (node->op != operands.op) continue;
      for (int i = operands.first; i <= operands.last; ++i) add_sources(node->input(i), sources);
    }
  std::vector<bool> deciding;
  for (const Value* input : graph.inputs())
    if (!input->constant) deciding.push_back(sources.contains(input));
  return deciding;
}

std::vector<std::optional<Tensor>> decisions(std::span<const Datum> inputs, const std::vector<bool>& deciding) {
  std::vector<std::optional<Tensor>> values(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].is_tensor() || inputs[i].tensor().dtype() == DType::kString) continue;
    const int64_t size = inputs[i].tensor().size();
    if (size == 0 || (i < deciding.size() && deciding[i] && size <= kMostElements)) values[i] = inputs[i].tensor();
  }
  return values;
}

bool same_decisions(std::span<const Datum> inputs, std::span<const std::optional<Tensor>> values) {
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] && values[i]->bytes() > 0 &&
        std::memcmp(values[i]->raw(), inputs[i].tensor().raw(), values[i]->bytes()) != 0)
      return false;
  return true;
}

void fix_inputs(Model& model, std::span<const std::optional<Tensor>> values) {
  Graph& graph = *model.graph;
  std::vector<std::pair<int, const Tensor*>> fixed;
  size_t next = 0;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    if (graph.inputs()[i]->constant || next == values.size()) continue;
    if (const auto& value = values[next++]) fixed.emplace_back(static_cast<int>(i), &*value);
  }
  for (size_t k = fixed.size(); k-- > 0;) {
    Value* input = graph.inputs()[static_cast<size_t>(fixed[k].first)];
    graph.remove_input(fixed[k].first);
    input->type = Type::tensor(fixed[k].second->dtype(), fixed[k].second->dims());
    input->constant = *fixed[k].second;
  }
}

}  // namespace mlopt
