// (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon) -> LayerNormalization, and without the means of x
// RMSNormalization, over the last axes, however they are spelt, also with the variance of a sample, which is n / (n -
// 1) times the mean. Scale and bias join in norm_scale.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/rewrite/fusion/norm.h"
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/numbers.h"
#include "core/tensor/cast.h"
#include "core/tensor/scaled.h"

namespace mlopt::fusion {
namespace {

/// What is divided by its root mean square.
struct Core : MeanSquare {
  Value* scale = nullptr;  ///< what the dividend is multiplied by first
};

constexpr size_t kChannels = MeanSquare::kChannels;

/// The operand of a mean over the last axes or channels, which stay as ones, and the first of these axes. TensorFlow's
/// exporter writes a mean of the last of three axes as a pool.
std::optional<std::pair<Value*, size_t>> mean_of(const Value* v, const Builder& builder) {
  const Node* pool = producer_of(v, "GlobalAveragePool");
  if (pool && pool->input(0)->type.dims && pool->input(0)->type.dims->size() > 2)
    return std::pair(pool->input(0), size_t{2});
  const Node* node = producer_of(v, "ReduceMean");
  const auto dims = node ? node->input(0)->type.dims : std::nullopt;
  if (!dims) return std::nullopt;
  const NodeView view = builder.view(*node);
  auto axes = view.ints("axes", 1);
  if (!axes || axes->empty() || view.get_int("keepdims", 1) == 0) return std::nullopt;
  const auto rank = static_cast<int64_t>(dims->size());
  for (int64_t& axis : *axes) axis += axis < 0 ? rank : 0;
  std::sort(axes->begin(), axes->end());
  if (rank > 2 && *axes == std::vector<int64_t>{1}) return std::pair(node->input(0), kChannels);
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

/// The product by a number, or the quotient, and the factor that this is; v itself for other values.
std::pair<const Value*, double> multiplied(const Value* v) {
  if (const Node* product = producer_of(v, "Mul"))
    for (const int i : {0, 1})
      if (const auto factor = number_in(product->input(i))) return {product->input(1 - i), *factor};
  const Node* quotient = producer_of(v, "Div");
  const auto divisor = quotient ? number_in(quotient->input(1)) : std::nullopt;
  return divisor ? std::pair<const Value*, double>{quotient->input(0), 1 / *divisor} : std::pair{v, 1.0};
}

/// mean(d^2), or a multiple of it.
std::optional<Core> variance(const Value* v, const Builder& builder) {
  const auto [plain, factor] = multiplied(v);
  const auto mean = mean_of(plain, builder);
  Value* d = mean ? squared(mean->first) : nullptr;
  if (!d || !(factor > 0) || !std::isfinite(factor)) return std::nullopt;
  return Core{{d, 0, mean->second, factor}};
}

/// mean(d^2) + epsilon, which exporters leave out where it is too small for float32.
std::optional<Core> deviation(const Value* v, const Builder& builder) {
  const Node* sum = producer_of(v, "Add");
  if (!sum) return variance(v, builder);
  for (const int i : {0, 1}) {
    auto core = variance(sum->input(i), builder);
    const auto epsilon = number_in(sum->input(1 - i), core ? core->dividend->type.dims->size() : 0);
    if (!core || !epsilon || !(*epsilon >= 0)) continue;
    core->epsilon = *epsilon;
    return core;
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

/// The dividend, or its product with a scale.
std::optional<Core> divided(Core core, Value* by) {
  if (same_value(core.dividend, by)) return core.dividend = by, core;
  const Node* product = core.scale ? nullptr : producer_of(by, "Mul");
  for (const int i : {0, 1}) {
    if (!product || !by->single_use() || !same_value(core.dividend, product->input(i))) continue;
    core.dividend = product->input(i), core.scale = product->input(1 - i);
    return core;
  }
  return std::nullopt;
}

/// inverse, inverse scale or scale / root, whose core then has the scale.
std::optional<Core> scaled_inverse(const Value* v, const Builder& builder) {
  if (const auto core = inverse_root(v, builder)) return core;
  if (const Node* quotient = producer_of(v, "Div")) {
    auto core = root_of(quotient->input(1), builder);
    if (core) core->scale = quotient->input(0);
    return core;
  }
  const Node* product = producer_of(v, "Mul");
  for (const int i : {0, 1}) {
    auto core = product ? inverse_root(product->input(i), builder) : std::nullopt;
    if (core) return core->scale = product->input(1 - i), core;
  }
  return std::nullopt;
}

/// Nothing where what divides is read elsewhere too: all that it is computed from would stay.
std::optional<Core> core_of(const Node& root, const Builder& builder) {
  if (root.op == "Div") {
    const auto core = root.input(1)->single_use() ? root_of(root.input(1), builder) : std::nullopt;
    return core ? divided(*core, root.input(0)) : std::nullopt;
  }
  for (const int i : {0, 1}) {
    const auto inverse = root.input(i)->single_use() ? scaled_inverse(root.input(i), builder) : std::nullopt;
    if (const auto core = inverse ? divided(*inverse, root.input(1 - i)) : std::nullopt) return core;
  }
  return std::nullopt;
}

/// x where d is x minus its mean over the same axes.
Value* uncentered(const Value* d, size_t from, const Builder& builder) {
  const Node* difference = producer_of(d, "Sub");
  const auto mean = difference ? mean_of(difference->input(1), builder) : std::nullopt;
  return mean && mean->second == from && mean->first == difference->input(0) ? mean->first : nullptr;
}

/// The lengths of the axes that are normalized; nothing where one is not known.
std::optional<Dims> lengths_from(const Value& x, size_t from) {
  if (from == kChannels) return std::nullopt;
  Dims lengths;
  for (size_t i = from; i < x.type.dims->size(); ++i) {
    const auto length = (*x.type.dims)[i].value();
    if (!length || *length < 1) return std::nullopt;
    lengths.push_back(*length);
  }
  return lengths;
}

/// What x / sqrt(c mean(x^2) + epsilon) is, where c is not 1, times x / sqrt(mean(x^2) + epsilon / c).
double scale_of(const Core& core) { return 1 / std::sqrt(core.factor); }

float epsilon_of(const Core& core) { return static_cast<float>(core.epsilon / core.factor); }

Value* filled(const char* name, const Dims& dims, double number, DType type, Builder& builder) {
  const auto count = static_cast<size_t>(element_count(dims));
  return builder.constant(name, cast(Tensor::of<double>(dims, std::vector<double>(count, number)), type));
}

/// All axes behind the channels, each channel of each sample for itself; nothing where that is not so.
std::optional<Replacement> instance_norm(const Core& core, Value* x, Builder& builder) {
  const SymDims& dims = *x->type.dims;
  // Three axes are rows of features, but where these are as many as there are pixels.
  const bool picture = dims.size() > 3 || (dims.size() == 3 && !dims[2].value());
  const auto channels = core.from == 2 && picture ? dims[1].value() : std::nullopt;
  if (!channels || *channels < 1 || builder.opset() < 6 || x->type.dtype != DType::kF32) return std::nullopt;
  Value *scale = filled("scale", {*channels}, scale_of(core), x->type.dtype, builder),
        *zeros = filled("bias", {*channels}, 0, x->type.dtype, builder);
  std::vector<Attr> attrs{{"epsilon", epsilon_of(core), ""}};
  return Replacement{builder.op("InstanceNormalization", {x, scale, zeros}, std::move(attrs), x->type)};
}

/// Has it the shape of the normalized axes?
bool is_row(const Value* v, const Dims& lengths, DType type) {
  return v->type.static_dims() == lengths && v->type.dtype == type;
}

/// The scale of the whole: the core's own by the factor's; null where that is not known.
Value* whole_scale(const Core& core, const Value& x, const Dims& lengths, Builder& builder) {
  if (core.factor == 1 && core.scale) return core.scale;
  if (!core.scale) return filled("scale", lengths, scale_of(core), x.type.dtype, builder);
  const Tensor* known = core.scale->known_constant();
  if (!known) return nullptr;
  return builder.successor(core.scale, scaled(*known, scale_of(core)));
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const auto core = core_of(*m.root, builder);
  if (!core) return Decline{"not a value divided by its root mean square"};
  Value* centered = uncentered(core->dividend, core->from, builder);
  Value* x = centered ? centered : core->dividend;
  if (!is_float(x->type.dtype) || !x->type.dims) return Decline{"its type is not known"};
  if (auto made = centered && !core->scale ? instance_norm(*core, x, builder) : std::nullopt) return *made;
  const auto lengths = lengths_from(*x, core->from);
  if (!lengths) return Decline{"the length of a normalized axis is not known"};
  if (const char* why = no_norm(centered != nullptr, *x, builder)) return Decline{why};
  if (core->scale && !is_row(core->scale, *lengths, x->type.dtype))
    return Decline{"the scale is not as long as the normalized axes"};
  Value* scale = whole_scale(*core, *x, *lengths, builder);
  if (!scale) return Decline{"the scale is not constant, and the variance that of a sample"};
  const auto axis = static_cast<int64_t>(core->from) - static_cast<int64_t>(x->type.dims->size());
  std::vector<Attr> attrs{{"axis", axis, ""}, {"epsilon", epsilon_of(*core), ""}};
  return Replacement{builder.op(norm_name(centered != nullptr, builder), {x, scale}, std::move(attrs), x->type)};
}

/// The mean in mean i, or in -mean i; null for other products.
const Value* subtracted(const Node& product, const Value* i, bool negated) {
  if (product.input(0) != i && product.input(1) != i) return nullptr;
  const Value* other = product.input(product.input(0) == i ? 1 : 0);
  if (!negated) return other;
  const Node* neg = producer_of(other, "Neg");
  return neg ? neg->input(0) : nullptr;
}

/// x i + (bias - mean(x) i), x i + (-mean(x) i + bias) or x i + -mean(x) i, as Keras writes it.
Expected<Replacement> rewrite_affine(const Match& m, Builder& builder) {
  Value *x = m.value("x"), *i = m.value("i"), *bias = m.value("bias");
  const bool negated = !bias || m.node("shift")->is("Add");
  for (int tried = 0; tried < 2; ++tried, std::swap(x, i)) {
    const auto inverse = scaled_inverse(i, builder);
    if (!inverse || uncentered(inverse->dividend, inverse->from, builder) != x) continue;
    const auto mean = mean_of(subtracted(*m.node("rest"), i, negated), builder);
    if (!mean || mean->first != x || mean->second != inverse->from) return Decline{"another mean is subtracted"};
    const auto lengths = lengths_from(*x, inverse->from);
    if (!lengths || !is_float(x->type.dtype)) return Decline{"the length of a normalized axis is not known"};
    const auto fits = [&](const Value* v) { return !v || is_row(v, *lengths, x->type.dtype); };
    if (!fits(bias) || !fits(inverse->scale)) return Decline{"scale and bias are not as long as the normalized axes"};
    if (const char* why = no_norm(true, *x, builder)) return Decline{why};
    Value* scale = whole_scale(*inverse, *x, *lengths, builder);
    if (!scale) return Decline{"the scale is not constant, and the variance that of a sample"};
    const auto axis = static_cast<int64_t>(inverse->from) - static_cast<int64_t>(x->type.dims->size());
    std::vector<Attr> attrs{{"axis", axis, ""}, {"epsilon", epsilon_of(*inverse), ""}};
    return Replacement{builder.op("LayerNormalization", {x, scale, bias}, std::move(attrs), x->type)};
  }
  return Decline{};
}

std::vector<Rule> rules() {
  const auto product = [](const char* a, const char* b) {
    return Pattern::op("Mul", {Pattern::any(a), Pattern::any(b)}).single_use();
  };
  const Pattern rest = product("a", "b").as("rest");
  Pattern less = Pattern::op("Sub", {Pattern::any("bias"), rest}).as("shift").single_use(),
          plus = Pattern::op("Add", {rest, Pattern::any("bias")}).any_order().as("shift").single_use();
  Pattern alone = Pattern::op("Mul", {Pattern::op("Neg", {Pattern::any("mean")}), Pattern::any("b")})
                      .any_order()
                      .as("rest")
                      .single_use();
  return {{Pattern::op("Add", {product("x", "i"), std::move(less)}).any_order(), rewrite_affine},
          {Pattern::op("Add", {product("x", "i"), std::move(alone)}).any_order(), rewrite_affine},
          {Pattern::op("Add", {product("x", "i"), std::move(plus)}).any_order(), rewrite_affine},
          {Pattern::op("Div|Mul", {Pattern::any("a"), Pattern::any("b")}), rewrite}};
}

}  // namespace

const char* no_norm(bool centered, const Value& x, const Builder& builder) {
  if (builder.target == Target::kKernels) return x.type.dtype == DType::kF32 ? nullptr : "it is not float32";
  if (builder.target == Target::kOrt && (x.type.dtype == DType::kF32 || x.type.dtype == DType::kF64)) return nullptr;
  if (centered) return builder.has(17) ? nullptr : "LayerNormalization needs opset 17";
  return builder.has(23) ? nullptr : "RMSNormalization needs opset 23";
}

std::optional<ChannelNorm> norm_of_channels(const Node& root, const Builder& builder) {
  const auto core = core_of(root, builder);
  if (!core || core->from != kChannels || core->scale || core->factor != 1) return std::nullopt;
  Value* x = uncentered(core->dividend, core->from, builder);
  return x ? std::optional(ChannelNorm{x, core->epsilon}) : std::nullopt;
}

std::optional<MeanSquare> root_mean_square(const Value* v, const Builder& builder) { return root_of(v, builder); }

std::string norm_name(bool centered, const Builder& builder) {
  if (centered) return "LayerNormalization";
  return builder.target == Target::kOrt && builder.opset() < 23 ? "SimplifiedLayerNormalization" : "RMSNormalization";
}

bool same_value(const Value* a, const Value* b) {
  if (a == b) return true;
  const Node *x = a->producer, *y = b->producer;
  return x && y && x->op == "Sub" && x->op == y->op && x->domain == y->domain && x->inputs() == y->inputs();
}

const Pass fuse_layer_norm = {"fuse_layer_norm", "the operators of an exported LayerNorm or RMSNorm as one", rules};

}  // namespace mlopt::fusion
