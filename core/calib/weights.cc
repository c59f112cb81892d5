#include "core/calib/weights.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <set>
#include <unordered_map>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/calib/handed_in.h"
#include "core/calib/layout.h"
#include "core/ir/view.h"

namespace mlopt {
namespace {

bool is_float_type(DType type) {
  return type == DType::kF32 || type == DType::kF64 || type == DType::kF16 || type == DType::kBF16;
}

/// A constant and the Transposes and Identities between it and its reader, the last first.
struct Source {
  Value* constant = nullptr;
  std::vector<const Node*> steps;
};

Source source_of(Value* v) {
  Source s;
  while (v && v->producer && !v->constant && (v->producer->is("Identity") || v->producer->is("Transpose"))) {
    s.steps.push_back(v->producer);
    v = v->producer->input(0);
  }
  if (v && v->constant && !v->opaque) s.constant = v;
  return s;
}

std::vector<int64_t> perm_of(const Node& node, size_t rank) {
  std::vector<int64_t> perm(rank);
  for (size_t i = 0; i < rank; ++i) perm[i] = static_cast<int64_t>(rank - 1 - i);
  return NodeView(node, 0).get_ints("perm", std::move(perm));
}

/// Dims behind each step; those of the constant first.
std::vector<Dims> dims_behind(const Source& source) {
  std::vector<Dims> dims = {source.constant->constant->dims()};
  for (size_t i = source.steps.size(); i-- > 0;) {
    Dims next = dims.back();
    if (source.steps[i]->is("Transpose")) {
      const std::vector<int64_t> perm = perm_of(*source.steps[i], next.size());
      for (size_t k = 0; k < perm.size(); ++k) next[k] = dims.back()[static_cast<size_t>(perm[k])];
    }
    dims.push_back(std::move(next));
  }
  return dims;
}

/// The floats of which it is made with other constants, a matrix, or of a `factor` any; null: it is made otherwise.
const Value* computed_from(const Value* v, bool factor) {
  while (v && !v->constant) {
    const Node* node = v->producer;
    if (!node) return nullptr;
    for (size_t i = 1; i < node->inputs().size(); ++i)
      if (const Value* other = node->inputs()[i]; other && !other->constant) return nullptr;
    v = node->input(0);
  }
  if (!v || !is_float_type(v->constant->dtype())) return nullptr;
  return v->constant->rank() >= 2 || (factor && v->constant->size() > 1) ? v : nullptr;
}

/// A Cast of what is stored in 16 bits stays, for it saves room.
bool stored_in_half(const Value& matrix) {
  const DType type = matrix.constant->dtype();
  return (type == DType::kF16 || type == DType::kBF16) &&
         std::any_of(matrix.uses.begin(), matrix.uses.end(), [](const Use& use) { return use.node->is("Cast"); });
}

bool multiplies(const Node& node) {
  return node.is("MatMul") || node.is("Gemm") || node.is("Conv") || node.is("ConvTranspose");
}

bool same_layout(const Weight& a, const Weight& b) {
  return a.row_at == b.row_at && a.column_at == b.column_at && a.kernel == b.kernel && a.groups == b.groups;
}

class Finder {
 public:
  Finder(const Model& model, const WeightChoice& choice) : model_(model), choice_(choice) {}

  Found run() {
    for (Node* node : all_nodes(*model_.graph)) look_at(*node);
    for (const auto& weight : all_) check_readers(*weight);
    check_globs();
    Found found;
    for (const auto& weight : all_) {
      if (!is_chosen(*weight))
        left_.emplace(weight->layer, "excluded by --only or --skip");
      else if (!refused_.contains(weight->value))
        found.weights.push_back(std::move(*weight));
    }
    found.left = std::move(left_);
    if (found.weights.empty() && !choice_.stored_only) refuse_all(found);
    return found;
  }

 private:
  void look_at(Node& node) {
    for (int i = 0; i < static_cast<int>(node.inputs().size()); ++i) {
      Value* v = node.input(i);
      const Source source = source_of(v);
      if (!source.constant) {
        note_integers(node, v);
        note_handed(node, v);
        note_computed(node, v, i);
        continue;
      }
      const Tensor& tensor = *source.constant->constant;
      if (!is_float_type(tensor.dtype()) || tensor.size() < 2) continue;
      add(node, i, source);
    }
  }

  void add(Node& node, int operand, const Source& source) {
    auto weight = std::make_unique<Weight>();
    const std::vector<Dims> dims = dims_behind(source);
    if (!lay_out(node, operand, dims.back(), *weight) && !lay_out_table(node, operand, dims.back(), *weight)) {
      if (node.is("Gather") && operand == 0 && dims[0].size() == 2)
        left_.emplace(node.called(), "a table that is looked up, not multiplied by");
      note_unknown(node, weight->op, dims.back());
      return;
    }
    for (size_t i = 0; i < source.steps.size(); ++i)
      if (source.steps[i]->is("Transpose"))
        transpose(dims[source.steps.size() - 1 - i], perm_of(*source.steps[i], dims[0].size()), *weight);
    weight->layer = node.called();
    weight->value = source.constant;
    weight->readers = {&node};
    const auto [at, is_new] = by_value_.try_emplace(source.constant, weight.get());
    if (is_new)
      all_.push_back(std::move(weight));
    else if (choice_.stored_only && (at->second->op == "Gather" || weight->op == "Gather"))
      take_product(*at->second, *weight);
    else if (same_layout(*at->second, *weight))
      at->second->readers.push_back(&node);
    else if (!choice_.stored_only)
      refuse(*at->second, fmt::format("its weight is read in another way by {}", node.label()));
  }

  /// The rows of a table, where they count.
  bool lay_out_table(const Node& node, int operand, const Dims& dims, Weight& w) const {
    if (!choice_.stored_only || !node.is("Gather") || operand != 0 || dims.size() < 2) return false;
    if (NodeView(node, 0).get_int("axis", 0) != 0) return false;
    w.op = node.op;
    w.operand = operand;
    w.rows = dims[0];
    for (size_t i = 1; i < dims.size(); ++i) w.columns = std::max<int64_t>(w.columns, 1) * dims[i];
    for (int64_t r = 0; r < w.rows; ++r) w.row_at.push_back(r * w.columns);
    for (int64_t c = 0; c < w.columns; ++c) w.column_at.push_back(c);
    return true;
  }

  /// Of what multiplies by a weight and what looks it up, the first decides how it is seen.
  static void take_product(Weight& weight, Weight& other) {
    if (weight.op == "Gather") std::swap(weight, other);
  }

  void note_integers(const Node& node, const Value* v) {
    const bool dequantized = v && v->producer && v->producer->op == "DequantizeLinear" && v->producer->input(0) &&
                             v->producer->input(0)->constant && v->producer->input(0)->constant->rank() >= 2;
    if (dequantized) left_.emplace(node.called(), "its weight is stored as integers");
    integers_ += dequantized;
  }

  /// What comes into a body from outside is no constant of it.
  void note_handed(const Node& node, const Value* v) {
    if (const Node* giver = v && multiplies(node) ? handed_in(*v) : nullptr)
      left_.emplace(node.called(), fmt::format("its weight is handed to the body of {}", giver->label()));
  }

  void note_computed(const Node& node, const Value* v, int operand) {
    if (choice_.stored_only || !multiplies(node)) return;
    if (const Value* matrix = computed_from(v, operand < 2))
      left_.emplace(node.called(),
                    fmt::format("its weight is computed by {}: mlopt {}, run before, makes a constant of it",
                                v->producer->label(), stored_in_half(*matrix) ? "convert --to fp32" : "fuse"));
  }

  /// `op` is empty for what the standard does not know.
  void note_unknown(const Node& node, const std::string& op, const Dims& dims) {
    if (choice_.stored_only || dims.size() < 2) return;
    if (op.empty() || op == "Einsum" || op == "DeformConv")
      left_.emplace(node.called(), fmt::format("weights of {} cannot be {}", node.op, choice_.done));
  }

  void refuse(const Weight& weight, const std::string& reason) {
    if (refused_.insert(weight.value).second) left_.emplace(weight.layer, reason);
  }

  /// All that reads the constant must read it as the layer does.
  void check_readers(const Weight& weight) {
    std::vector<const Value*> values = {weight.value};
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i]->is_output()) return refuse(weight, "its weight is an output of the model");
      if (choice_.stored_only) continue;
      for (const Use& use : values[i]->uses) {
        const bool passes_on = use.node->is("Identity") || use.node->is("Transpose");
        if (passes_on)
          values.push_back(use.node->output(0));
        else if (!std::count(weight.readers.begin(), weight.readers.end(), use.node) || use.index != weight.operand)
          return refuse(weight, fmt::format("its weight is read by {} too", use.node->label()));
      }
    }
  }

  static bool matches(const Weight& weight, const std::string& glob) {
    return glob_match(glob, weight.name()) || std::any_of(weight.readers.begin(), weight.readers.end(),
                                                          [&](const Node* n) { return glob_match(glob, n->called()); });
  }

  bool is_chosen(const Weight& weight) const {
    const auto hit = [&](const std::string& glob) { return matches(weight, glob); };
    return (choice_.only.empty() || std::any_of(choice_.only.begin(), choice_.only.end(), hit)) &&
           !std::any_of(choice_.skip.begin(), choice_.skip.end(), hit);
  }

  void check_globs() const {
    std::vector<std::string> names;
    for (const auto& weight : all_) {
      for (const Node* reader : weight->readers) names.push_back(reader->called());
      names.push_back(weight->name());
    }
    const auto check = [&](const std::string& glob, const char* option) {
      const bool hit = std::any_of(all_.begin(), all_.end(), [&](const auto& w) { return matches(*w, glob); });
      if (!hit)
        usage_error(fmt::format("'{}' matches no layer and no weight that can be {}", glob, choice_.done), option,
                    suggestion(glob, names));
    };
    if (all_.empty() || choice_.stored_only) return;
    for (const std::string& glob : choice_.only) check(glob, "--only");
    for (const std::string& glob : choice_.skip) check(glob, "--skip");
  }

  [[noreturn]] void refuse_all(const Found& found) const {
    if (integers_ > 0)
      input_error("the weights of the model are stored as integers", model_.path,
                  fmt::format("{} the float model that it was made from", choice_.verb));
    std::set<std::string> reasons;
    for (const auto& [layer, reason] : found.left) reasons.insert(fmt::format("{}: {}", layer, reason));
    const std::vector<std::string> list(reasons.begin(), reasons.end());
    input_error(fmt::format("no weight of the model can be {}{}", choice_.done,
                            list.empty() ? "" : " (" + join(list, "; ") + ")"),
                model_.path,
                "there are none but constant float weights of Conv, ConvTranspose, Gemm, MatMul, LSTM, GRU, RNN; mlopt "
                "fuse, run before, makes constants of weights that are computed, and mlopt convert --to fp32 of those "
                "that are stored in 16 bits");
  }

  const Model& model_;
  const WeightChoice& choice_;
  std::vector<std::unique_ptr<Weight>> all_;
  std::unordered_map<const Value*, Weight*> by_value_;
  std::set<const Value*> refused_;
  std::map<std::string, std::string> left_;
  int64_t integers_ = 0;
};

}  // namespace

Found find_weights(const Model& model, const WeightChoice& choice) { return Finder(model, choice).run(); }

}  // namespace mlopt
