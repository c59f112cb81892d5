#include "core/rewrite/fusion/joined_mask.h"

#include "core/ir/infer_types.h"

namespace mlopt::fusion {
namespace {

constexpr int kMostSums = 3;  // of masks, one within the other

/// v with both axes, from before its layouts where that can be said.
std::optional<View> view_of(Value* v, const Joined& joined, const Builder& builder) {
  const auto& dims = v->type.dims;
  if (!dims || dims->size() != 3 || !(dims->front() == joined.batch * joined.heads)) return std::nullopt;
  const SymDims wanted{joined.batch, joined.heads, (*dims)[1], (*dims)[2]};
  auto view = viewed(v, layouts_before(v, builder), wanted, builder);
  return view ? std::move(view) : viewed(v, {}, wanted, builder);
}

/// [batch, 1, ...] of what was repeated for all heads.
Value* for_one_head(Value* v, const Builder& builder) {
  const Node* node = v->graph == &builder.graph ? producer_of(v, "Expand") : nullptr;
  const auto& before = node ? node->input(0)->type.dims : v->type.dims;
  const bool heads = node && before && v->type.dims && before->size() == 4 && (*before)[1].is(1);
  return heads && same_but(*before, *v->type.dims, {1}) ? node->input(0) : v;
}

std::optional<SymDims> dims_of(Value* v, const Joined& joined, const Builder& builder, int depth);

/// What a sum of two that can be parted has.
std::optional<SymDims> sum_dims(const Value* v, const Joined& joined, const Builder& builder, int depth) {
  const Node* sum = depth > 0 ? producer_of(v, "Add") : nullptr;
  const auto a = sum ? dims_of(sum->input(0), joined, builder, depth - 1) : std::nullopt;
  const auto b = a ? dims_of(sum->input(1), joined, builder, depth - 1) : std::nullopt;
  return b ? infer_rules::broadcast_dims(a, b) : std::nullopt;
}

std::optional<SymDims> dims_of(Value* v, const Joined& joined, const Builder& builder, int depth) {
  if (!v->type.dims) return std::nullopt;
  if (is_same_for_all(*v->type.dims)) return v->type.dims;
  if (auto sum = sum_dims(v, joined, builder, depth)) return sum;
  const auto view = view_of(v, joined, builder);
  return view ? std::optional(view->way.dims()) : std::nullopt;
}

Value* made(Value* v, const Joined& joined, Builder& builder, int depth) {
  if (is_same_for_all(*v->type.dims)) return v;
  if (const auto dims = sum_dims(v, joined, builder, depth)) {
    Value* a = made(v->producer->input(0), joined, builder, depth - 1);
    Value* b = made(v->producer->input(1), joined, builder, depth - 1);
    return builder.op("Add", {a, b}, {}, Type::tensor(v->type.dtype, dims));
  }
  return view_of(v, joined, builder)->make(builder);
}

}  // namespace

bool is_same_for_all(const SymDims& dims) { return dims.size() < 3 || (dims.size() == 3 && dims.front().is(1)); }

Value* before_joining(Value* v, const Joined& joined, const Builder& builder) {
  if (v->type.dims && is_same_for_all(*v->type.dims)) return v;
  const auto view = view_of(v, joined, builder);
  return view && view->way.cost() == 0 ? for_one_head(view->source, builder) : nullptr;
}

std::optional<SymDims> parted_dims(Value* v, const Joined& joined, const Builder& builder) {
  return dims_of(v, joined, builder, kMostSums);
}

Value* parted(Value* v, const Joined& joined, Builder& builder) { return made(v, joined, builder, kMostSums); }

}  // namespace mlopt::fusion
