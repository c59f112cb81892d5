// GatherND whose indices count along one axis each -> Slice and Unsqueeze, or Reshape where they are constant: so
// PyTorch's exporters write the masks of transformers, which a function of two places is mapped over.
#include "core/rewrite/axis_map.h"
#include "core/rewrite/fusion/counting.h"
#include "core/tensor/cast.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

/// 0, 1, 2, ... along one axis.
struct Counting {
  Value* counts;     ///< of length 1 along all axes but `own`
  size_t own, axis;  ///< where it counts, in its own shape and in that of the result
  const Dim& length() const { return (*counts->type.dims)[own]; }
};

/// Column [..., 1] of indices for a result of this rank.
Expected<Counting> counting_in(const Value* column, size_t rank, const Builder& builder) {
  const Node* last = column->producer;
  if (!last || !last->is("Unsqueeze")) return Decline{"its indices are no columns"};
  const auto axes = builder.view(*last).ints("axes", 1);
  Value* counts = last->input(0);
  if (!axes || axes->size() != 1 || (axes->front() != -1 && axes->front() != static_cast<int64_t>(rank)))
    return Decline{"its indices are no columns"};
  while (counts->producer && counts->producer->is("Expand")) counts = counts->producer->input(0);
  const auto own = fusion::counts_along(counts, builder);
  if (!own || counts->type.dims->size() > rank) return Decline{"its indices do not count"};
  return Counting{counts, *own, rank - counts->type.dims->size() + *own};
}

struct Indices {
  std::vector<Counting> countings;  ///< one for each other axis of x than `only`, in their order
  std::vector<int64_t> only;        ///< axes of x, of length 1, whose only element is taken
  std::vector<int64_t> others;      ///< all other axes of the result; they have length 1
};

/// Is it 0 in every row of the column?
bool is_first(const Value* column) {
  const Node* last = column->producer;
  return fusion::only_number(last && last->is("Unsqueeze") ? last->input(0) : column) == 0.0;
}

Expected<Indices> indices_of(const Node& columns, const SymDims& x, const SymDims& out, const Builder& builder) {
  const int64_t axis = builder.view(columns).get_int("axis", 0);
  if (axis != -1 && axis != static_cast<int64_t>(out.size())) return Decline{"its indices are no columns"};
  if (columns.inputs().size() != x.size()) return Decline{"it gathers more than elements"};
  Indices indices;
  auto& [found, only, others] = indices;
  for (size_t i = 0; i < x.size(); ++i) {
    const Value* column = columns.inputs()[i];
    if (x[i].is(1) && is_first(column)) {
      only.push_back(static_cast<int64_t>(i));
      continue;
    }
    const auto next = counting_in(column, out.size(), builder);
    if (!next) return next.error();
    if (!found.empty() && next->axis <= found.back().axis) return Decline{"it transposes"};
    if (!(out[next->axis] == next->length())) return Decline{"its indices do not count"};
    found.push_back(*next);
  }
  size_t at = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    if (at < found.size() && found[at].axis == i) {
      ++at;
      continue;
    }
    if (!out[i].is(1)) return Decline{"it repeats"};
    others.push_back(static_cast<int64_t>(i));
  }
  return indices;
}

/// The first elements along this axis, as many as are counted.
Value* first_of(Value* x, size_t axis, const Counting& counting, Builder& builder) {
  const auto own = static_cast<int64_t>(counting.own);
  const Attr start = {"start", own, ""}, end = {"end", own + 1, ""};
  Value* length = builder.op("Shape", {counting.counts}, {start, end});
  Value* zero = builder.constant("starts", Tensor::ints({0}));
  Value* along = builder.constant("axes", Tensor::ints({static_cast<int64_t>(axis)}));
  Type type = x->type;
  (*type.dims)[axis] = counting.length();
  return builder.op("Slice", {x, zero, length, along}, {}, std::move(type));
}

/// Without axes of length 1, in ascending order.
Value* without_axes(Value* x, const std::vector<int64_t>& axes, Builder& builder) {
  if (axes.empty()) return x;
  Type type = x->type;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) type.dims->erase(type.dims->begin() + *axis);
  return builder.op("Squeeze", {x, builder.constant("only", Tensor::ints(axes))}, {}, std::move(type));
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  const auto &in = x->type.dims, &out = m.root->output(0)->type.dims;
  if (builder.view(*m.root).get_int("batch_dims", 0) != 0) return Decline{"it gathers by samples"};
  if (!in || !out) return Decline{"the shapes are not known"};
  if (builder.opset() < 15) return Decline{"Shape of one axis takes opset 15"};
  const auto indices = indices_of(*m.node("columns"), *in, *out, builder);
  if (!indices) return indices.error();
  x = without_axes(x, indices->only, builder);
  for (size_t i = 0; i < indices->countings.size(); ++i)
    if (const Counting& counting = indices->countings[i]; !((*x->type.dims)[i] == counting.length()))
      x = first_of(x, i, counting, builder);
  if (indices->others.empty()) return Replacement{x};
  Value* axes = builder.constant("axes", Tensor::ints(indices->others));
  return Replacement{builder.op("Unsqueeze", {x, axes}, {}, m.root->output(0)->type)};
}

/// Do constant indices name all elements of x, one after the other?
bool names_all(const Tensor& indices, const Dims& x) {
  const int64_t count = element_count(x);
  if (count == 0 || indices.rank() == 0 || indices.dims().back() != static_cast<int64_t>(x.size()) || x.empty() ||
      indices.size() != count * static_cast<int64_t>(x.size()))
    return false;
  const std::vector<int64_t> places = to_ints(indices);
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0;
    for (size_t axis = 0; axis < x.size(); ++axis) {
      const int64_t place = places[static_cast<size_t>(i) * x.size() + axis];
      at = at * x[axis] + (place < 0 ? place + x[axis] : place);
    }
    if (at != i) return false;
  }
  return true;
}

Expected<Replacement> rewrite_all(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  const auto in = x->type.static_dims(), out = m.root->output(0)->type.static_dims();
  if (builder.view(*m.root).get_int("batch_dims", 0) != 0) return Decline{"it gathers by samples"};
  const Tensor* places = m.root->input(1)->known_constant();
  if (!places) return Decline{};
  if (!in || !out || !names_all(*places, *in)) return Decline{"its indices do not count"};
  return Replacement{make_reshape(builder, x, *out, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  Pattern columns = Pattern::op("Concat", {}).open().as("columns");
  return {{Pattern::op("GatherND", {Pattern::any("x"), std::move(columns)}), rewrite},
          {Pattern::op("GatherND", {Pattern::any("x"), Pattern::any("places")}), rewrite_all}};
}

}  // namespace

const Pass gather_nd_to_slice = {"gather_nd_to_slice", "replace GatherND by indices that count by Slice and Unsqueeze",
                                 rules};

}  // namespace mlopt::graphopt
