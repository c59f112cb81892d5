#include "core/rewrite/fusion/everywhere.h"

#include "core/rewrite/fusion/counting.h"

namespace mlopt::fusion {
namespace {

/// a - b, where both are numbers or count along the same axis.
std::optional<double> difference(const Value* a, const Value* b, const Builder& builder) {
  const auto x = number_everywhere(a, builder), y = x ? number_everywhere(b, builder) : std::nullopt;
  if (y) return *x - *y;
  const auto one = count_of(a, builder), other = one ? count_of(b, builder) : std::nullopt;
  if (!other || a->type.dims->size() - one->axis != b->type.dims->size() - other->axis) return std::nullopt;
  // Broadcast, one of them would count no more.
  if (!((*a->type.dims)[one->axis] == (*b->type.dims)[other->axis])) return std::nullopt;
  const auto steps = (one->from - other->from).value();
  return steps ? std::optional(static_cast<double>(*steps)) : std::nullopt;
}

std::optional<double> of_both(const Node& both, const Builder& builder) {
  const auto a = number_everywhere(both.input(0), builder), b = number_everywhere(both.input(1), builder);
  if (a == 0.0 || b == 0.0) return 0.0;
  return a && b ? std::optional(1.0) : std::nullopt;
}

std::optional<double> computed(const Node& node, const Builder& builder) {
  if (node.is("Sub")) return difference(node.input(0), node.input(1), builder);
  if (node.is("And")) return of_both(node, builder);
  if (node.is("Equal")) {
    const auto apart = difference(node.input(0), node.input(1), builder);
    return apart ? std::optional(*apart == 0 ? 1.0 : 0.0) : std::nullopt;
  }
  const auto x = number_everywhere(node.input(0), builder);
  if (!x) return std::nullopt;
  if (node.is("Not")) return 1 - *x;
  if (node.is("Cast")) return node.output(0)->type.dtype == DType::kBool ? (*x != 0 ? 1.0 : 0.0) : *x;
  return node.is("CumSum") && *x == 0 ? x : std::nullopt;
}

}  // namespace

std::optional<double> number_everywhere(const Value* v, const Builder& builder) {
  if (is_float(v->type.dtype)) return std::nullopt;
  if (const auto number = only_number(v)) return number;
  const Node* node = v->producer;
  if (!node || !node->domain.empty() || node->inputs().empty() || !node->input(0)) return std::nullopt;
  return keeps_elements(*node) ? number_everywhere(node->input(0), builder) : computed(*node, builder);
}

bool always_true(const Value* v, const Builder& builder) {
  return always_true(v) || (v->type.dtype == DType::kBool && number_everywhere(v, builder) == 1.0);
}

Value* beside_true(const Node& both, const Builder& builder) {
  for (const int i : {0, 1})
    if (always_true(both.input(i), builder)) return both.input(1 - i);
  return nullptr;
}

}  // namespace mlopt::fusion
