#include "core/rewrite/fusion/joined_mask.h"

#include <algorithm>

#include "core/ir/infer_types.h"

namespace mlopt::fusion {
namespace {

constexpr int kMostSums = 3;  // of masks, one within the other

bool is_same_for_all(const SymDims& dims) { return dims.size() < 3 || (dims.size() == 3 && dims.front().is(1)); }

/// v as another value in another order.
struct View {
  Value* source = nullptr;
  AxisMap way;
};

/// What v is with both axes.
std::optional<View> view_of(Value* v, const Joined& joined, const Builder& builder) {
  const auto& dims = v->type.dims;
  if (!dims || dims->size() != 3 || !(dims->front() == joined.batch * joined.heads)) return std::nullopt;
  const bool layout = is_layout(v->producer) && v->graph == &builder.graph;
  const std::vector<const Node*> chain = layout ? layout_chain(v->producer) : std::vector<const Node*>();
  const auto from = [&](Value* source, const std::vector<const Node*>& nodes) -> std::optional<View> {
    const auto is_known = [](const Dim& d) { return d.known(); };
    if (!source->type.dims || !std::all_of(source->type.dims->begin(), source->type.dims->end(), is_known))
      return std::nullopt;
    View view{source, AxisMap(*source->type.dims)};
    const bool fits = view.way.apply(nodes, builder) &&
                      view.way.reshape({joined.batch, joined.heads, (*dims)[1], (*dims)[2]}) && view.way.writable();
    return fits ? std::optional(std::move(view)) : std::nullopt;
  };
  auto view = layout ? from(chain.front()->input(0), chain) : std::nullopt;
  return view ? std::move(view) : from(v, {});
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
  const auto view = view_of(v, joined, builder);
  return view->way.make(builder, view->source, Type::tensor(v->type.dtype, view->way.dims()));
}

}  // namespace

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
