// Attention of the standard, from opset 23 on.
#include <algorithm>
#include <cmath>

#include "core/ir/infer_types.h"
#include "core/rewrite/fusion/attention_parts.h"
#include "core/rewrite/fusion/attention_past.h"
#include "core/rewrite/fusion/counting.h"
#include "core/rewrite/fusion/lengths.h"
#include "core/tensor/cast.h"

namespace mlopt::fusion {
namespace {

Attr number(const char* name, double x) { return {name, static_cast<float>(x), ""}; }
Attr integer(const char* name, int64_t x) { return {name, x, ""}; }

/// ONNX Runtime takes the least float for minus infinity, and makes zeros of a row that it hides whole; softmax makes
/// all keys alike there. Of this number it does so too, and scores are swallowed by either. A mask that is an input of
/// the model stays as it is.
constexpr double kLeastTaken = -1e30;

bool is_lower(double x) { return std::isfinite(x) && x < kLeastTaken; }
bool is_lower(const Value* v) { return is_lower(only_number(v).value_or(0)); }

Value* least_taken(const Dims& dims, DType type, Builder& builder) {
  const std::vector<double> numbers(static_cast<size_t>(element_count(dims)), kLeastTaken);
  return builder.constant("hidden", cast(Tensor::of<double>(dims, numbers), type));
}

/// The mask with that number as this operand of its operator; itself where that may change its shape.
Value* with_least_taken(Value* mask, int operand, Builder& builder) {
  std::vector<Value*> inputs = mask->producer->inputs();
  Value*& low = inputs[static_cast<size_t>(operand)];
  const Tensor* known = low->known_constant();
  low = least_taken(known ? known->dims() : Dims(), mask->type.dtype, builder);
  std::optional<SymDims> dims = SymDims{};
  for (const Value* input : inputs) dims = infer_rules::broadcast_dims(dims, input->type.dims);
  if (!known && dims != mask->type.dims) return mask;
  return builder.op(mask->producer->op, std::move(inputs), {}, mask->type);
}

/// Is all that is not zero in v so far from it that a product with the number swallows scores too?
bool is_coarse(const Value* v) {
  const Node* node = v->producer;
  if (!node) return false;
  if (keeps_elements(*node)) return is_coarse(node->input(0));
  return node->is("Sub") ? only_number(node->input(0)) == 1.0
                         : node->is("Cast") && !is_float(node->input(0)->type.dtype);
}

Value* raised_constant(Value* mask, Builder& builder) {
  const std::vector<double> numbers = to_doubles(*mask->known_constant());
  const bool infinite = std::any_of(numbers.begin(), numbers.end(), [](double x) { return std::isinf(x); });
  const bool lower = std::any_of(numbers.begin(), numbers.end(), [](double x) { return is_lower(x); });
  if (infinite || !lower) return mask;
  return builder.op("Max", {mask, least_taken({}, mask->type.dtype, builder)}, {}, mask->type);
}

Value* raised(Value* mask, Builder& builder, int sums);

/// The same mask, whatever it is, that hides by no lower number; one that comes from outside as it is.
Value* raised_any(Value* mask, Builder& builder, int sums = 3) {
  return mask->known_constant() ? raised_constant(mask, builder) : raised(mask, builder, sums);
}

/// The same, as far as it is a choice, a product, or a sum or extremum of so many, limited or moved.
Value* raised(Value* mask, Builder& builder, int sums) {
  const Node* node = mask->producer;
  if (!node || !node->domain.empty()) return mask;
  for (const int i : {0, 1, 2}) {
    const bool chosen = i > 0 && node->op == "Where", factor = i < 2 && node->op == "Mul";
    if ((chosen || (factor && is_coarse(node->input(1 - i)))) && is_lower(node->input(i)))
      return with_least_taken(mask, i, builder);
  }
  std::vector<Value*> inputs = node->inputs();
  if (keeps_elements(*node)) {
    inputs[0] = raised_any(inputs[0], builder, sums);
  } else if (node->op == "Clip" && inputs.size() > 1 && inputs[1]) {
    inputs[1] = raised_any(inputs[1], builder, 0);
  } else if ((node->op == "Add" || node->op == "Max" || node->op == "Min") && sums > 0) {
    // All of them, as a row may be hidden partly by one and partly by another.
    for (Value*& part : inputs) part = raised_any(part, builder, sums - 1);
  }
  return inputs == node->inputs() ? mask : builder.op(node->op, std::move(inputs), node->attrs, mask->type);
}

/// The site with no lower number in the place of hidden scores.
Site within_limits(const Site& s, Builder& builder) {
  Site other = s;
  if (s.mask && !s.joined) other.mask = raised_any(s.mask, builder);
  if (std::isfinite(other.choice.hidden)) other.choice.hidden = std::max(other.choice.hidden, kLeastTaken);
  return other;
}

}  // namespace

Expected<Replacement> standard_attention(const Site& s, Builder& builder) {
  std::vector<Value*> inputs;
  const bool masked = s.mask || s.choice.condition;
  const auto mask = mask_dims(s);
  if (s.scale <= 0 && builder.target != Target::kKernels)
    return Decline{"ONNX Runtime takes no scale that is not positive"};
  if (masked && (!mask || mask->empty())) return Decline{"the shape of the mask is not known"};
  if (masked && !s.k.past && mask->size() == 4 && !infer_rules::is_choice_of(mask->front(), s.q.batch))
    return Decline{"the mask may have other samples"};
  // The standard hides keys that a mask lacks. ONNX Runtime repeats one over samples and heads only.
  const bool keys = masked && !(mask->back() == s.k.rows);
  const bool row = masked && (mask->size() < 2 || !((*mask)[mask->size() - 2] == s.q.rows));
  const bool rows = row && builder.target != Target::kKernels;
  Value* shape = keys || rows ? repeated_shape(s, rows, keys, builder) : nullptr;
  if ((keys || rows) && !shape)
    return Decline{"no input of the graph has the axes that the mask would be repeated for"};
  for (const Heads* heads : {&s.q, &s.k, &s.v}) inputs.push_back(flattened(*heads, builder));
  if (masked) inputs.push_back(added_mask(builder.target == Target::kKernels ? s : within_limits(s, builder), builder));
  if (s.own) inputs.push_back(s.own);
  if (shape) inputs.back() = builder.op("Expand", {inputs.back(), shape});
  std::vector<Attr> attrs{integer("q_num_heads", s.q.count), integer("kv_num_heads", s.k.count),
                          number("scale", s.scale)};
  if (s.cap != 0) attrs.push_back(number("softcap", s.cap));
  if (s.causal) attrs.push_back(integer("is_causal", 1));
  if (s.k.past)
    return Replacement{with_past("Attention", s.k, s.v, s.type, std::move(inputs), std::move(attrs), builder)};
  return Replacement{builder.op("Attention", std::move(inputs), std::move(attrs), s.type)};
}

}  // namespace mlopt::fusion
