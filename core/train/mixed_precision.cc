// y = MatMul(x, w)  ->  y = Cast<float>(MatMul(Cast<half>(x), Cast<half>(w)))
#include "core/train/mixed_precision.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/tensor/cast.h"

namespace mlopt::train {
namespace {

/// Sums of products: the operators that hardware does faster in half precision, and whose float32 sums lose nothing but
/// the last rounding. All else (normalization, softmax, losses, reductions, exponentials, recurrent networks, operators
/// fused with any of these) stays float32.
constexpr std::string_view kProducts[] = {"MatMul", "Gemm", "Conv", "ConvTranspose", "Einsum"};
/// What only moves numbers.
constexpr std::string_view kMoves[] = {"Reshape", "Transpose", "Unsqueeze", "Squeeze", "Expand",
                                       "Flatten", "Identity",  "Slice",     "Concat",  "Tile"};

template <size_t N>
bool listed(const std::string_view (&ops)[N], const Node& node) {
  return node.domain.empty() && std::find(std::begin(ops), std::end(ops), node.op) != std::end(ops);
}

bool is_f32(const Value* v) { return v->type.is_tensor() && v->type.dtype == DType::kF32; }

/// Of two float32 operands at least.
bool is_product(const Node& node) {
  if (!listed(kProducts, node) || node.outputs().size() != 1 || !is_f32(node.output(0))) return false;
  int64_t operands = 0;
  for (const Value* v : node.inputs()) {
    if (v && !is_f32(v)) return false;
    operands += v != nullptr;
  }
  return operands >= 2;
}

/// Positions and lengths: half floats hold few integers.
bool is_of_integers(const Value* v) {
  while (v->producer && listed(kMoves, *v->producer) && v->producer->input(0)) v = v->producer->input(0);
  const Node* made = v->producer;
  return made && (made->is("Range") || (made->is("Cast") && is_integer(made->input(0)->type.dtype)));
}

bool fits(const Tensor& t, DType type) {
  const std::vector<float> numbers = to_floats(cast(t, type)), wide = to_floats(t);
  for (size_t i = 0; i < numbers.size(); ++i)
    if (std::isfinite(wide[i]) && !std::isfinite(numbers[i])) return false;
  return true;
}

bool is_named(const Node& node, std::span<const std::string> globs) {
  if (glob_any(globs, node.called())) return true;
  return std::any_of(node.inputs().begin(), node.inputs().end(),
                     [&](const Value* v) { return v && v->is_initializer() && glob_any(globs, v->name); });
}

class Lowering {
 public:
  Lowering(Graph& graph, const MixedPrecision& how, std::span<Value* const> trained)
      : graph_(graph), how_(how), trained_(trained.begin(), trained.end()) {}

  HalfProducts run() {
    for (Node* node : graph_.nodes()) {
      if (!is_product(*node)) continue;
      const std::string reason = why_float32(*node);
      if (reason.empty())
        lower(node);
      else
        ++done_.kept[reason];
    }
    for (Value* v : rounded_)
      if (v->uses.empty() && !v->is_output()) graph_.erase(v);
    return std::move(done_);
  }

 private:
  std::string why_float32(const Node& node) const {
    if (is_named(node, how_.keep)) return "named by --keep-fp32";
    for (const Value* v : node.inputs()) {
      if (v && is_of_integers(v)) return "an operand is integers, such as positions";
      if (v && v->constant && !fits(*v->constant, how_.type)) return "a constant is too large";
    }
    return {};
  }

  void lower(Node* node) {
    std::vector<Value*> inputs;
    for (Value* v : node->inputs()) inputs.push_back(v ? half(v, node) : nullptr);
    Value* y = node->output(0);
    const std::string name = y->name;
    Value* narrow = graph_.add_value(graph_.fresh_name(name + "/half"), of_type(y, how_.type));
    Node* product = graph_.add_node(node->domain, node->op, std::move(inputs), {narrow}, node->attrs, node);
    product->name = node->called();
    product->origins = node->origins;
    Value* wide = cast_op(narrow, DType::kF32, node, "float");
    graph_.replace_uses(y, wide);
    graph_.erase(node);
    if (wide->name != name) graph_.rename(wide, name);
    ++done_.half;
  }

  static Type of_type(const Value* v, DType dtype) {
    Type type = v->type;
    type.dtype = dtype;
    return type;
  }

  /// Named after the product that it is for, which is what a message about it is to name.
  Value* cast_op(Value* v, DType type, const Node* product, const std::string& what) {
    Value* y =
        graph_.add_op("Cast", {v}, {{"to", static_cast<int64_t>(type), {}}}, product, v->name + "/cast")->output(0);
    y->type = of_type(v, type);
    y->producer->name = fmt::format("{}/{}", product->called(), what);
    return y;
  }

  /// The value in half precision, from before its first reader on.
  Value* half(Value* v, const Node* product) {
    Value*& made = halves_[v];
    if (made) return made;
    if (v->is_initializer() && !v->is_input && !trained_.contains(v)) {
      made = graph_.add_constant(v->name + "/half", cast(*v->constant, how_.type));
      made->type = of_type(v, how_.type);
      rounded_.push_back(v);
    } else {
      made = cast_op(v, how_.type, product, "half of " + v->name);
    }
    return made;
  }

  Graph& graph_;
  const MixedPrecision& how_;
  std::unordered_set<const Value*> trained_;
  std::unordered_map<const Value*, Value*> halves_;
  std::vector<Value*> rounded_;  ///< initializers that products read in half precision
  HalfProducts done_;
};

/// What a glob may mean: nodes, and the weights that products read.
std::vector<std::string> names_of(const Model& model) {
  std::vector<std::string> names;
  for (const Node* node : model.graph->nodes()) names.push_back(node->called());
  for (const Value* v : model.graph->initializers()) names.push_back(v->name);
  return names;
}

}  // namespace

HalfProducts lower_products(Model& model, const MixedPrecision& how, std::span<Value* const> trained) {
  return Lowering(*model.graph, how, trained).run();
}

void widen_parameters(Graph& graph, std::span<Value*> parameters) {
  for (Value*& narrow : parameters) {
    const DType type = narrow->constant->dtype();
    if ((type != DType::kF16 && type != DType::kBF16) || narrow->is_output()) continue;
    const std::string name = narrow->name;
    Value* wide = graph.add_constant(name, cast(*narrow->constant, DType::kF32));
    Value* read =
        graph.add_op("Cast", {wide}, {{"to", static_cast<int64_t>(type), {}}}, graph.next(nullptr), name + "/half")
            ->output(0);
    read->type = Type::tensor(type, narrow->constant->dims());
    graph.replace_uses(narrow, read);
    graph.erase(narrow);
    graph.rename(wide, name);
    narrow = wide;
  }
}

void require_named(const MixedPrecision& how, std::span<const Model* const> models) {
  std::vector<std::string> names;
  for (const Model* model : models) {
    const std::vector<std::string> own = names_of(*model);
    names.insert(names.end(), own.begin(), own.end());
  }
  for (const std::string& glob : how.keep)
    if (std::none_of(names.begin(), names.end(), [&](const std::string& name) { return glob_match(glob, name); }))
      input_error(fmt::format("no node and no weight is called '{}'", glob), "--keep-fp32", suggestion(glob, names));
}

}  // namespace mlopt::train
