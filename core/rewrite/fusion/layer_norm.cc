// (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon) -> LayerNormalization, and without the means of x
// RMSNormalization, over the last axes, however they are spelt. Scale and bias join in norm_scale.
#include <algorithm>
#include <numeric>

#include "core/rewrite/fusion/norm.h"
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/numbers.h"
#include "core/tensor/cast.h"

namespace mlopt::fusion {
namespace {

/// What is divided by its root mean square.
struct Core {
  Value* dividend = nullptr;
  double epsilon = 0;
  size_t from = 0;  ///< the first axis that is normalized
};

const Node* producer_of(const Value* v, std::string_view op) {
  return v && v->producer && v->producer->is(op) ? v->producer : nullptr;
}

/// The operand of a mean over the last axes, which stay as ones, and the first of these axes.
std::optional<std::pair<Value*, size_t>> mean_of(const Value* v, const Builder& builder) {
  const Node* node = producer_of(v, "ReduceMean");
  const auto dims = node ? node->input(0)->type.dims : std::nullopt;
  if (!dims) return std::nullopt;
  const NodeView view = builder.view(*node);
  auto axes = builder.opset() >= 18 ? view.ints("axes", 1) : std::optional(view.get_ints("axes"));
  if (!axes || axes->empty() || view.get_int("keepdims", 1) == 0) return std::nullopt;
  const auto rank = static_cast<int64_t>(dims->size());
  for (int64_t& axis : *axes) axis += axis < 0 ? rank : 0;
  std::sort(axes->begin(), axes->end());
  for (size_t i = 0; i < axes->size(); ++i)
    if ((*axes)[i] != rank - static_cast<int64_t>(axes->size() - i)) return std::nullopt;
  return std::pair(node->input(0), static_cast<size_t>(axes->front()));
}

/// The value that is multiplied by itself.
Value* squared(const Value* v) {
  if (const Node* power = producer_of(v, "Pow")) return is_number(power->input(1), 2) ? power->input(0) : nullptr;
  const Node* product = producer_of(v, "Mul");
  return product && product->input(0) == product->input(1) ? product->input(0) : nullptr;
}

/// mean(d^2) + epsilon.
std::optional<Core> deviation(const Value* v, const Builder& builder) {
  const Node* sum = producer_of(v, "Add");
  if (!sum) return std::nullopt;
  for (const int i : {0, 1}) {
    const auto mean = mean_of(sum->input(i), builder);
    const auto epsilon = number_in(sum->input(1 - i), mean ? mean->first->type.dims->size() : 0);
    Value* d = mean ? squared(mean->first) : nullptr;
    if (d && epsilon && *epsilon >= 0) return Core{d, *epsilon, mean->second};
  }
  return std::nullopt;
}

/// sqrt(deviation).
std::optional<Core> root_of(const Value* v, const Builder& builder) {
  if (const Node* root = producer_of(v, "Sqrt")) return deviation(root->input(0), builder);
  const Node* power = producer_of(v, "Pow");
  return power && is_number(power->input(1), 0.5) ? deviation(power->input(0), builder) : std::nullopt;
}

/// 1 / sqrt(deviation).
std::optional<Core> inverse_root(const Value* v, const Builder& builder) {
  if (const Node* node = producer_of(v, "Reciprocal")) return root_of(node->input(0), builder);
  if (const Node* node = producer_of(v, "Div"))
    return is_number(node->input(0), 1) ? root_of(node->input(1), builder) : std::nullopt;
  const Node* power = producer_of(v, "Pow");
  return power && is_number(power->input(1), -0.5) ? deviation(power->input(0), builder) : std::nullopt;
}

std::optional<Core> core_of(const Node& root, const Builder& builder) {
  if (root.op == "Div") {
    auto core = root_of(root.input(1), builder);
    if (core) core->dividend = same_value(core->dividend, root.input(0)) ? root.input(0) : nullptr;
    return core && core->dividend ? core : std::nullopt;
  }
  for (const int i : {0, 1}) {
    const auto core = inverse_root(root.input(i), builder);
    if (core && same_value(core->dividend, root.input(1 - i))) return core;
  }
  return std::nullopt;
}

/// x where d is x minus its mean over the same axes.
Value* uncentered(const Value* d, size_t from, const Builder& builder) {
  const Node* difference = producer_of(d, "Sub");
  const auto mean = difference ? mean_of(difference->input(1), builder) : std::nullopt;
  return mean && mean->second == from && mean->first == difference->input(0) ? mean->first : nullptr;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const auto core = core_of(*m.root, builder);
  if (!core) return Decline{"not a value divided by its root mean square"};
  Value* centered = uncentered(core->dividend, core->from, builder);
  Value* x = centered ? centered : core->dividend;
  if (!is_float(x->type.dtype) || !x->type.dims) return Decline{"its type is not known"};
  Dims lengths;
  for (size_t i = core->from; i < x->type.dims->size(); ++i) {
    const auto length = (*x->type.dims)[i].value();
    if (!length || *length < 1) return Decline{"the length of a normalized axis is not known"};
    lengths.push_back(*length);
  }
  if (const char* why = no_norm(centered != nullptr, *x, builder)) return Decline{why};
  const auto count = static_cast<size_t>(element_count(lengths));
  Value* ones =
      builder.constant("scale", cast(Tensor::of<double>(lengths, std::vector<double>(count, 1.0)), x->type.dtype));
  const auto axis = static_cast<int64_t>(core->from) - static_cast<int64_t>(x->type.dims->size());
  std::vector<Attr> attrs{{"axis", axis, ""}, {"epsilon", static_cast<float>(core->epsilon), ""}};
  return Replacement{builder.op(norm_name(centered != nullptr, builder), {x, ones}, std::move(attrs), x->type)};
}

std::vector<Rule> rules() { return {{Pattern::op("Div|Mul", {Pattern::any("a"), Pattern::any("b")}), rewrite}}; }

}  // namespace

const char* no_norm(bool centered, const Value& x, const Builder& builder) {
  if (builder.target == Target::kKernels) return x.type.dtype == DType::kF32 ? nullptr : "it is not float32";
  if (builder.target == Target::kOrt && (x.type.dtype == DType::kF32 || x.type.dtype == DType::kF64)) return nullptr;
  if (centered) return builder.has(17) ? nullptr : "LayerNormalization needs opset 17";
  return builder.has(23) ? nullptr : "RMSNormalization needs opset 23";
}

std::string norm_name(bool centered, const Builder& builder) {
  if (centered) return "LayerNormalization";
  return builder.target == Target::kOrt && builder.opset() < 23 ? "SimplifiedLayerNormalization" : "RMSNormalization";
}

bool same_value(const Value* a, const Value* b) {
  if (a == b) return true;
  const Node *x = a->producer, *y = b->producer;
  return x && y && x->op == "Sub" && x->op == y->op && x->domain == y->domain && x->inputs() == y->inputs();
}

const Pass layer_norm = {"fuse_layer_norm", "the operators that LayerNorm and RMSNorm are exported as, as one", rules};

}  // namespace mlopt::fusion
