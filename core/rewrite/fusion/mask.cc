#include "core/rewrite/fusion/mask.h"

#include <algorithm>
#include <cmath>

#include "core/rewrite/axis_map.h"
#include "core/rewrite/fusion/counting.h"
#include "core/rewrite/numbers.h"
#include "core/tensor/cast.h"

namespace mlopt::fusion {
namespace {

bool is_zero(const Value* v) { return only_number(v) == 0.0; }

/// Are all samples and keys of v those of `inner`, so that what is between is all that v repeats?
bool keeps_ends(const Value& inner, const Value& v) {
  const auto &in = inner.type.dims, &out = v.type.dims;
  if (!in || !out || in->empty() || !(in->back() == out->back())) return false;
  return in->size() == out->size() ? in->front() == out->front() : out->front().is(1);
}

/// What v is made of by giving it further axes of length 1, or by repeating it for queries; null where it is something
/// else.
Value* before_axes_of(const Value& v) {
  const Node* node = v.producer;
  if (!node || !node->domain.empty()) return nullptr;
  if (node->op == "Unsqueeze" || node->op == "Reshape") return node->input(0);
  Value* inner = node->op == "And" ? beside_true(*node) : node->op == "Expand" ? node->input(0) : nullptr;
  return inner && keeps_ends(*inner, v) ? inner : nullptr;
}

/// [batch, keys] of what is only given further axes of length 1, or repeated for every query.
Value* before_axes(Value* v, const Dim& batch, const Dim& keys) {
  const SymDims wanted = without_ones({batch, keys});
  for (int depth = 0; depth < 8; ++depth) {
    const auto& dims = v->type.dims;
    if (dims && *dims == SymDims{batch, keys}) return v;
    Value* inner = before_axes_of(*v);
    if (!inner || !inner->type.dims || without_ones(*inner->type.dims) != wanted) return nullptr;
    v = inner;
  }
  return nullptr;
}

}  // namespace

std::optional<std::pair<Choice, Value*>> choice_of(const Value* v) {
  const Node* node = producer_of(v, "Where");
  if (!node) return std::nullopt;
  for (const int i : {1, 2})
    if (const auto hidden = only_number(node->input(i)); hidden && *hidden <= kHidden)
      return std::pair(Choice{node->input(0), i == 2, *hidden}, node->input(3 - i));
  return std::nullopt;
}

std::optional<PaddingMask> padding_of(const Choice& choice) {
  const auto& dims = choice.condition->type.dims;
  if (!dims || dims->size() != 4) return std::nullopt;
  Value* keys = before_axes(choice.condition, dims->front(), dims->back());
  if (!keys || keys->type.dtype != DType::kBool) return std::nullopt;
  return PaddingMask{keys, choice.seen, choice.hidden};
}

namespace {

/// Of a mask [batch, 1, 1 or queries, keys] that was chosen as [batch, keys].
std::optional<PaddingMask> choice_before_axes(const Value& mask) {
  const auto& dims = mask.type.dims;
  Value* inner = dims && dims->size() == 4 ? before_axes_of(mask) : nullptr;
  const Value* numbers = inner ? before_axes(inner, dims->front(), dims->back()) : nullptr;
  const auto choice = numbers ? choice_of(numbers) : std::nullopt;
  if (!choice || !is_zero(choice->second)) return std::nullopt;
  Value* keys = choice->first.condition;
  if (keys->type.dtype != DType::kBool || keys->type.dims != numbers->type.dims) return std::nullopt;
  return PaddingMask{keys, choice->first.seen, choice->first.hidden};
}

}  // namespace

std::optional<PaddingMask> padding_of(const Value* mask) {
  const auto choice = choice_of(mask);
  if (choice && is_zero(choice->second)) return padding_of(choice->first);
  if (const auto inner = choice ? std::nullopt : choice_before_axes(*mask)) return inner;
  const Node* product = choice ? nullptr : producer_of(mask, "Mul");
  for (const int i : {0, 1}) {
    const Node* rest = product ? producer_of(product->input(i), "Sub") : nullptr;
    const auto hidden = rest ? only_number(product->input(1 - i)) : std::nullopt;
    if (!hidden || !(*hidden <= kHidden) || only_number(rest->input(0)) != 1.0) continue;
    // Numbers that are 0 or 1 for sure.
    const Node* cast = producer_of(rest->input(1), "Cast");
    if (cast && cast->input(0)->type.dtype == DType::kBool) return padding_of(Choice{cast->input(0), true, *hidden});
  }
  return std::nullopt;
}

namespace {

/// Is a number that is not minus infinity in each row of the last axis?
bool has_finite_rows(const Tensor& mask) {
  if (!is_float(mask.dtype()) || mask.rank() == 0 || mask.size() == 0) return false;
  const std::vector<double> numbers = to_doubles(mask);
  const auto row = static_cast<std::ptrdiff_t>(mask.dims().back());
  for (auto begin = numbers.begin(); begin != numbers.end(); begin += row)
    if (std::none_of(begin, begin + row, [](double x) { return std::isfinite(x); })) return false;
  return true;
}

}  // namespace

bool leaves_keys(const Value* mask) {
  if (!mask) return true;
  if (const Tensor* constant = mask->known_constant()) return has_finite_rows(*constant);
  const auto choice = choice_of(mask);
  if (choice && only_number(choice->second) == 0.0) return std::isfinite(choice->first.hidden);
  const auto padding = padding_of(mask);
  return padding && std::isfinite(padding->hidden);
}

}  // namespace mlopt::fusion
