#include "core/rewrite/axis_map.h"

#include <algorithm>

namespace mlopt {
namespace {

/// Where an axis of length 1 joins view axes that a Transpose is to put in order: behind the one before it, so that the
/// two move as one, which runtimes copy in blocks, unless 0 in the Reshape's target could then not copy a free size.
std::vector<int64_t>::iterator place_of_one(std::vector<int64_t>& middle, int64_t one, const SymDims& view) {
  const auto before = std::find(middle.begin(), middle.end(), one - 1);
  if (before == middle.end()) return before;
  const bool fixed = std::all_of(before + 1, middle.end(),
                                 [&](int64_t axis) { return view[static_cast<size_t>(axis)].value().has_value(); });
  return fixed ? before + 1 : middle.end();
}

}  // namespace

AxisMap::AxisMap(SymDims source) : source_(std::move(source)) {
  for (size_t i = 0; i < source_.size(); ++i) {
    axes_.emplace_back();
    if (source_[i].is(1)) continue;
    axes_.back().push_back(lengths_.size());
    lengths_.push_back(source_[i]);
    axis_of_.push_back(i);
  }
}

bool AxisMap::apply(const Node& node, const Builder& builder) {
  if (!node.output(0)) return false;
  const auto& out = node.output(0)->type.dims;
  if (!out) return false;
  return node.is("Transpose") ? transpose(builder.view(node).get_ints("perm")) : is_layout(&node) && reshape(*out);
}

bool AxisMap::apply(const std::vector<const Node*>& chain, const Builder& builder) {
  return std::all_of(chain.begin(), chain.end(), [&](const Node* node) { return apply(*node, builder); });
}

bool AxisMap::transpose(const std::vector<int64_t>& perm) {
  if (!is_permutation(perm, axes_.size())) return false;
  std::vector<std::vector<size_t>> turned;
  for (const int64_t axis : perm) turned.push_back(axes_[static_cast<size_t>(axis)]);
  axes_ = std::move(turned);
  return true;
}

bool AxisMap::reshape(const SymDims& to) {
  std::vector<size_t> parts;
  for (const auto& axis : axes_) parts.insert(parts.end(), axis.begin(), axis.end());
  size_t next = 0;
  axes_.clear();
  for (const Dim& wanted : to) {
    axes_.emplace_back();
    for (Dim rest = wanted; !rest.is(1);) {
      if (next == parts.size()) return false;
      const size_t part = parts[next++];
      axes_.back().push_back(part);
      if (const auto left = Dim::divide(rest, lengths_[part])) {
        rest = *left;
        continue;
      }
      const auto inner = Dim::divide(lengths_[part], rest);
      if (!inner) return false;
      // The part becomes two: the outer one is taken, the inner one is next.
      for (auto* list : {&parts, &axes_.back()})
        for (size_t& p : *list) p += p > part;
      for (auto& axis : axes_)
        if (&axis != &axes_.back())
          for (size_t& p : axis) p += p > part;
      lengths_[part] = rest;
      lengths_.insert(lengths_.begin() + static_cast<std::ptrdiff_t>(part) + 1, *inner);
      axis_of_.insert(axis_of_.begin() + static_cast<std::ptrdiff_t>(part) + 1, axis_of_[part]);
      parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(next), part + 1);
      rest = 1;
    }
  }
  return next == parts.size();
}

std::optional<size_t> AxisMap::take_piece(size_t axis) {
  if (axis >= axes_.size() || axes_[axis].size() != 1) return std::nullopt;
  const size_t part = axes_[axis].front(), of = axis_of_[part];
  if (part > 0 && axis_of_[part - 1] == of) return std::nullopt;
  const auto piece = Dim::divide(source_[of], lengths_[part]);
  if (!piece) return std::nullopt;
  source_[of] = *piece;
  axes_.erase(axes_.begin() + static_cast<std::ptrdiff_t>(axis));
  lengths_.erase(lengths_.begin() + static_cast<std::ptrdiff_t>(part));
  axis_of_.erase(axis_of_.begin() + static_cast<std::ptrdiff_t>(part));
  for (auto& list : axes_)
    for (size_t& p : list) p -= p > part;
  return of;
}

Dim AxisMap::length(const std::vector<size_t>& parts) const {
  Dim product = 1;
  for (const size_t part : parts) product = product * lengths_[part];
  return product;
}

SymDims AxisMap::dims() const {
  SymDims all;
  for (const auto& axis : axes_) all.push_back(length(axis));
  return all;
}

SymDims AxisMap::parts_of(size_t axis) const {
  SymDims parts;
  for (size_t i = 0; i < lengths_.size(); ++i)
    if (axis_of_[i] == axis) parts.push_back(lengths_[i]);
  return parts;
}

std::optional<size_t> AxisMap::place_of_last() const {
  // A last axis of length 1 has no parts by which it is told from other such axes.
  if (source_.empty() || source_.back().is(1)) return std::nullopt;
  std::vector<size_t> whole;
  for (size_t i = 0; i < axis_of_.size(); ++i)
    if (axis_of_[i] + 1 == source_.size()) whole.push_back(i);
  for (size_t i = axes_.size(); i-- > 0;)
    if (axes_[i] == whole)
      return i;
    else if (!axes_[i].empty())
      break;
  return std::nullopt;
}

/// Do this part and the next one of the source follow each other in the view too?
bool AxisMap::follows(size_t part) const {
  std::optional<size_t> before;
  for (const auto& axis : axes_)
    for (const size_t p : axis) {
      if (p == part + 1) return before == part;
      before = p;
    }
  return false;
}

/// Transpose of the source's axes, and Reshape where that is not the view already. Empty where parts of one axis part.
AxisMap::Steps AxisMap::from_source() const {
  std::vector<int64_t> perm, ones;
  for (size_t i = 0; i < source_.size(); ++i)
    if (source_[i].is(1)) ones.push_back(static_cast<int64_t>(i));
  for (size_t i = 0; i + 1 < lengths_.size(); ++i)
    if (axis_of_[i] == axis_of_[i + 1] && !follows(i)) return {};
  for (const auto& axis : axes_) {
    if (axis.empty() && !ones.empty()) {
      perm.push_back(ones.front());
      ones.erase(ones.begin());
    }
    for (const size_t part : axis)
      if (part == 0 || axis_of_[part - 1] != axis_of_[part]) perm.push_back(static_cast<int64_t>(axis_of_[part]));
  }
  put_back(perm, ones);
  Steps steps{{true, {}, perm}};
  for (const int64_t axis : perm) steps[0].dims.push_back(source_[static_cast<size_t>(axis)]);
  if (steps[0].dims != dims()) steps.push_back({false, dims(), {}});
  return steps;
}

/// Reshape to the view's axes in the source's order, where it has them otherwise, and Transpose. Empty where an axis of
/// the view is of parts that are apart.
AxisMap::Steps AxisMap::to_view() const {
  std::vector<std::pair<size_t, int64_t>> order;  // first part, axis of the view
  std::vector<int64_t> ones;
  for (size_t i = 0; i < axes_.size(); ++i) {
    for (size_t k = 1; k < axes_[i].size(); ++k)
      if (axes_[i][k] != axes_[i][k - 1] + 1) return {};
    if (axes_[i].empty())
      ones.push_back(static_cast<int64_t>(i));
    else
      order.emplace_back(axes_[i].front(), static_cast<int64_t>(i));
  }
  std::sort(order.begin(), order.end());
  std::vector<int64_t> middle;  // axes of the view in the order before the Transpose
  size_t next = 0;
  for (const Dim& d : source_) {
    if (d.is(1) && !ones.empty()) {
      middle.push_back(ones.front());
      ones.erase(ones.begin());
    } else if (!d.is(1) && next < order.size()) {
      middle.push_back(order[next++].second);
    }
  }
  while (next < order.size()) middle.push_back(order[next++].second);
  Step parted, turned{true, dims(), std::vector<int64_t>(axes_.size())};
  for (const int64_t one : ones) middle.insert(place_of_one(middle, one, turned.dims), one);
  for (size_t i = 0; i < middle.size(); ++i) {
    parted.dims.push_back(turned.dims[static_cast<size_t>(middle[i])]);
    turned.perm[static_cast<size_t>(middle[i])] = static_cast<int64_t>(i);
  }
  return parted.dims == source_ ? Steps{turned} : Steps{parted, turned};
}

/// Reshape to as few axes as there are parts that move on their own, Transpose, Reshape.
AxisMap::Steps AxisMap::by_parts() const {
  std::vector<std::vector<size_t>> groups;
  std::vector<size_t> group_of;
  for (size_t i = 0; i < lengths_.size(); ++i) {
    if (i == 0 || !follows(i - 1)) groups.emplace_back();
    groups.back().push_back(i);
    group_of.push_back(groups.size() - 1);
  }
  Step parted, turned{true, {}, {}};
  for (const auto& group : groups) parted.dims.push_back(length(group));
  for (const auto& axis : axes_)
    for (const size_t part : axis) {
      if (groups[group_of[part]].front() != part) continue;
      turned.perm.push_back(static_cast<int64_t>(group_of[part]));
      turned.dims.push_back(parted.dims[group_of[part]]);
    }
  return {parted, turned, {false, dims(), {}}};
}

bool AxisMap::in_order() const {
  for (size_t i = 0; i + 1 < lengths_.size(); ++i)
    if (!follows(i)) return false;
  return true;
}

AxisMap::Steps AxisMap::plan() const {
  if (in_order()) return source_ == dims() ? Steps{} : Steps{{false, dims(), {}}};
  const Steps first = from_source(), second = to_view();
  const Steps& shorter = second.empty() || (!first.empty() && first.size() <= second.size()) ? first : second;
  return shorter.empty() ? by_parts() : shorter;
}

std::optional<std::vector<std::vector<int64_t>>> AxisMap::targets() const {
  SymDims before = source_;
  std::vector<std::vector<int64_t>> all;
  for (const Step& step : plan()) {
    const auto target = step.is_transpose ? step.perm : reshape_target(before, step.dims);
    if (!target) return std::nullopt;
    all.push_back(*target);
    before = step.dims;
  }
  return all;
}

Value* AxisMap::make(Builder& builder, Value* source, const Type& type) const {
  const auto all = targets();
  if (!all) return nullptr;
  const Steps steps = plan();
  Value* v = source;
  for (size_t i = 0; i < steps.size(); ++i) {
    const Type made = i + 1 == steps.size() ? type : Type::tensor(type.dtype, steps[i].dims);
    v = steps[i].is_transpose ? builder.op("Transpose", {v}, {{"perm", (*all)[i], {}}}, made)
                              : make_reshape(builder, v, (*all)[i], made);
  }
  return v;
}

}  // namespace mlopt
