#include "graphopt/passes/axis_order.h"

#include <algorithm>
#include <numeric>

#include "core/rewrite/axis_map.h"
#include "graphopt/passes/reduction.h"

namespace mlopt::graphopt {
namespace {

constexpr size_t kLongest = 8;  // chain that is looked at

bool contains(const std::vector<int64_t>& axes, int64_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

/// Where each of the axes stands, ascending.
std::vector<int64_t> places_in(const std::vector<int64_t>& order, const std::vector<int64_t>& axes) {
  std::vector<int64_t> places;
  for (size_t i = 0; i < order.size(); ++i)
    if (contains(axes, order[i])) places.push_back(static_cast<int64_t>(i));
  return places;
}

}  // namespace

AxisOrder::AxisOrder(size_t rank) : rank_(rank), axes_(rank) { std::iota(axes_.begin(), axes_.end(), int64_t{0}); }

bool AxisOrder::apply(const Node& node, const Builder& builder) {
  const NodeView view = builder.view(node);
  if (node.is("Transpose")) {
    const std::vector<int64_t> perm = permutation_of(view, axes_.size());
    if (!is_permutation(perm, axes_.size())) return false;
    std::vector<int64_t> moved;
    for (const int64_t axis : perm) moved.push_back(axes_[static_cast<size_t>(axis)]);
    axes_ = std::move(moved);
    return true;
  }
  if (!node.is("Squeeze") && !node.is("Unsqueeze")) return false;
  const auto named = squeezed_axes(view);
  if (!named) return false;
  if (node.is("Unsqueeze"))
    unsqueeze(*named);
  else
    for (auto axis = named->rbegin(); axis != named->rend(); ++axis) axes_.erase(axes_.begin() + *axis);
  return true;
}

bool AxisOrder::apply(const std::vector<const Node*>& chain, const Builder& builder) {
  return std::all_of(chain.begin(), chain.end(), [&](const Node* node) { return apply(*node, builder); });
}

std::vector<int64_t> AxisOrder::squeezed() const {
  std::vector<int64_t> gone;
  for (int64_t axis = 0; axis < static_cast<int64_t>(rank_); ++axis)
    if (!contains(axes_, axis)) gone.push_back(axis);
  return gone;
}

void AxisOrder::unsqueeze(const std::vector<int64_t>& places) {
  std::vector<int64_t> gone = squeezed();
  for (const int64_t place : places) axes_.insert(axes_.begin() + place, std::erase(gone, place) ? place : kNew);
  for (const int64_t place : places) {
    if (gone.empty()) break;
    int64_t& axis = axes_[static_cast<size_t>(place)];
    if (axis != kNew) continue;
    axis = gone.front();
    gone.erase(gone.begin());
  }
}

std::vector<int64_t> AxisOrder::new_places() const { return places_in(axes_, {kNew}); }

/// Of all axes of the source, those that go too.
std::vector<int64_t> AxisOrder::permutation() const {
  std::vector<int64_t> perm = axes_;
  std::erase(perm, kNew);
  put_back(perm, squeezed());
  return perm;
}

int AxisOrder::cost() const {
  const std::vector<int64_t> perm = permutation();
  return 2 * !std::is_sorted(perm.begin(), perm.end()) + !squeezed().empty() + has_new_axes();
}

Value* AxisOrder::make(Builder& builder, Value* source, const Type& type) const {
  const std::vector<int64_t> perm = permutation(), gone = places_in(perm, squeezed()), added = new_places();
  const Type open = Type::tensor(type.dtype);
  Value* y = source;
  if (!std::is_sorted(perm.begin(), perm.end()))
    y = builder.op("Transpose", {y}, {{"perm", perm, {}}}, gone.empty() && added.empty() ? type : open);
  if (!gone.empty()) y = make_squeeze(builder, "Squeeze", y, gone, added.empty() ? type : open);
  return added.empty() ? y : make_squeeze(builder, "Unsqueeze", y, added, type);
}

Unturned unturned(Value* v, const Builder& builder) {
  std::vector<int64_t> perm(v->type.dims->size());
  std::iota(perm.begin(), perm.end(), int64_t{0});
  while (const Node* turn = producer_of(v, "Transpose")) {
    const std::vector<int64_t> of = permutation_of(builder.view(*turn), perm.size());
    if (of.size() != perm.size() || !turn->input(0)->type.dims) break;
    for (int64_t& axis : perm) axis = of[static_cast<size_t>(axis)];
    v = turn->input(0);
  }
  return {v, perm};
}

bool one_reader(const Value& v) {
  if (v.output_uses != 0 || v.uses.empty()) return false;
  return std::all_of(v.uses.begin(), v.uses.end(), [&](const Use& use) { return use.node == v.uses[0].node; });
}

std::vector<Ordered> orders_of(Value* v, const Builder& builder) {
  std::vector<const Node*> chain;
  for (Value* at = v; at && one_reader(*at) && at->graph == &builder.graph && chain.size() < kLongest;) {
    const Node* node = at->producer;
    if (!node || !(node->is("Transpose") || node->is("Squeeze"))) break;
    chain.insert(chain.begin(), node);
    at = node->input(0);
  }
  std::vector<Ordered> found;
  for (; !chain.empty(); chain.erase(chain.begin())) {
    Value* source = chain.front()->input(0);
    if (!source || !source->type.dims) continue;
    Ordered ordered{source, AxisOrder(source->type.dims->size())};
    if (ordered.order.apply(chain, builder)) found.push_back(std::move(ordered));
  }
  return found;
}

}  // namespace mlopt::graphopt
