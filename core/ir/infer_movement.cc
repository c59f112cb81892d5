#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/checked.h"
#include "core/ir/infer_types.h"
#include "core/ir/size_arithmetic.h"
#include "core/tensor/cast.h"
#include "core/tensor/dim_product.h"

namespace mlopt::infer_rules {
namespace {

/// Dimensions of Reshape's target: 0 copies (unless allowzero), -1 takes what is left where that can be computed.
std::optional<SymDims> reshaped(const SymDims& x, const std::vector<Dim>& target, bool allow_zero) {
  SymDims out;
  const Dim total = product(x);
  Dim rest = 1;
  std::optional<size_t> open;
  for (size_t i = 0; i < target.size(); ++i) {
    Dim d = target[i];
    if (d.is(0) && !allow_zero) d = i < x.size() ? x[i] : Dim();
    if (d.is(-1))
      open = i, d = Dim();
    else
      rest = rest * d;
    out.push_back(d);
  }
  if (open)
    if (const auto left = Dim::divide(total, rest)) out[*open] = *left;
  return out;
}

/// Dimensions of a tensor of which only the rank is known: the length of the vector that input i gives as its shape.
std::optional<SymDims> dims_of_length(const NodeView& view, int i) {
  constexpr int64_t kMostDims = 64;
  const auto& dims = dims_of(view, i);
  const auto length = dims && dims->size() == 1 ? (*dims)[0].value() : std::nullopt;
  if (!length || *length < 0 || *length > kMostDims) return std::nullopt;
  return SymDims(static_cast<size_t>(*length));
}

}  // namespace

Types transpose(const NodeView& view) {
  const auto& x = dims_of(view, 0);
  if (!x) return one(dtype_of(view, 0), std::nullopt);
  std::vector<int64_t> perm = view.get_ints("perm");
  if (perm.empty()) {
    perm.resize(x->size());
    std::iota(perm.rbegin(), perm.rend(), 0);
  }
  SymDims out;
  for (const int64_t p : perm) {
    if (p < 0 || p >= static_cast<int64_t>(x->size())) return one(dtype_of(view, 0), std::nullopt);
    out.push_back((*x)[static_cast<size_t>(p)]);
  }
  return one(dtype_of(view, 0), out);
}

Types concat(const NodeView& view) {
  const auto& first = dims_of(view, 0);
  const auto axis = first ? axis_in(view.get_int("axis", 1), first->size()) : std::nullopt;
  if (!axis) return one(dtype_of(view, 0), std::nullopt);
  SymDims out = *first;
  out[*axis] = 0;
  for (const Value* v : view.node().inputs()) {
    if (!v || !v->type.dims || v->type.dims->size() != out.size()) return one(dtype_of(view, 0), std::nullopt);
    for (size_t i = 0; i < out.size(); ++i) {
      const Dim& d = (*v->type.dims)[i];
      if (i == *axis)
        out[i] = out[i] + d;
      else if (!out[i].value() && d.known())
        out[i] = d;
    }
  }
  return one(dtype_of(view, 0), out);
}

Types gather(const NodeView& view) {
  const auto &x = dims_of(view, 0), &indices = dims_of(view, 1);
  const auto axis = x ? axis_in(view.get_int("axis", 0), x->size()) : std::nullopt;
  if (!axis || !indices) return one(dtype_of(view, 0), std::nullopt);
  SymDims out(x->begin(), x->begin() + static_cast<std::ptrdiff_t>(*axis));
  out.insert(out.end(), indices->begin(), indices->end());
  out.insert(out.end(), x->begin() + static_cast<std::ptrdiff_t>(*axis) + 1, x->end());
  return one(dtype_of(view, 0), out);
}

Types reshape(const NodeView& view) {
  const auto& x = dims_of(view, 0);
  std::optional<std::vector<Dim>> target;
  if (view.opset() < 5) {
    target.emplace();
    for (const int64_t d : view.get_ints("shape")) target->emplace_back(d);
  } else {
    target = elements(view.node().input(1));
  }
  if (x && target) return one(dtype_of(view, 0), reshaped(*x, *target, view.get_int("allowzero", 0) != 0));
  return one(dtype_of(view, 0), view.opset() < 5 ? std::nullopt : dims_of_length(view, 1));
}

Types flatten(const NodeView& view) {
  const auto& x = dims_of(view, 0);
  if (!x) return one(dtype_of(view, 0), SymDims(2));
  int64_t axis = view.get_int("axis", 1);
  if (axis < 0) axis += static_cast<int64_t>(x->size());
  SymDims out = {1, 1};
  for (size_t i = 0; i < x->size(); ++i) {
    Dim& side = out[static_cast<int64_t>(i) < axis ? 0 : 1];
    side = side * (*x)[i];
  }
  return one(dtype_of(view, 0), out);
}

Types unsqueeze(const NodeView& view) {
  const auto& x = dims_of(view, 0);
  const auto axes = view.ints("axes", 1);
  if (!x || !axes) return one(dtype_of(view, 0), std::nullopt);
  const size_t rank = x->size() + axes->size();
  std::vector<bool> added(rank);
  for (const int64_t a : *axes) {
    const auto axis = axis_in(a, rank);
    if (!axis) return one(dtype_of(view, 0), std::nullopt);
    added[*axis] = true;
  }
  SymDims out;
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) out.push_back(added[i] || next >= x->size() ? Dim(1) : (*x)[next++]);
  return one(dtype_of(view, 0), out);
}

Types squeeze(const NodeView& view) {
  const auto& x = dims_of(view, 0);
  const auto axes = view.ints("axes", 1);
  if (!x || !axes) return one(dtype_of(view, 0), std::nullopt);
  std::vector<bool> dropped(x->size());
  for (const int64_t a : *axes)
    if (const auto axis = axis_in(a, x->size())) dropped[*axis] = true;
  SymDims out;
  for (size_t i = 0; i < x->size(); ++i) {
    if (axes->empty() && !(*x)[i].value()) return one(dtype_of(view, 0), std::nullopt);
    if (axes->empty() ? !(*x)[i].is(1) : !dropped[i]) out.push_back((*x)[i]);
  }
  return one(dtype_of(view, 0), out);
}

Types expand(const NodeView& view) {
  const auto target = elements(view.node().input(1));
  return one(dtype_of(view, 0),
             broadcast_dims(dims_of(view, 0), target ? std::optional<SymDims>(*target) : dims_of_length(view, 1)));
}

/// Known where all three numbers are, and for as many steps from 0 by 1 as a dimension has.
namespace {

/// The whole number that a value is, also as a float: up to 2^24, beyond which float32 skips some.
std::optional<Dim> whole_number(const Value* v) {
  constexpr int64_t kMost = 1 << 24;
  const auto found = whole_elements(v);
  if (!found || found->size() != 1) return std::nullopt;
  const auto known = found->front().value();
  const bool skips = is_float(v->type.dtype) && known && std::abs(*known) > kMost;
  return skips ? std::nullopt : std::optional(found->front());
}

}  // namespace

Types range(const NodeView& view) {
  Dim number[3];
  for (int i = 0; i < 3; ++i) {
    const auto found = whole_number(view.node().input(i));
    if (!found) return {};
    number[i] = *found;
  }
  const auto [start, limit, delta] = number;
  const auto span = (limit - start).value(), step = delta.value();
  if (span && step && *step != 0) {
    const auto whole = checked_div(*span, *step);
    if (!whole) return {};
    const int64_t more = *span % *step != 0 && (*span > 0) == (*step > 0) ? 1 : 0;
    return one(dtype_of(view, 0), SymDims{std::max<int64_t>(0, *whole + more)});
  }
  const Dim length = limit - start;
  if (!delta.is(1) || !never_negative(length)) return {};
  return one(dtype_of(view, 0), SymDims{length});
}

Types constant_of_shape(const NodeView& view) {
  const Tensor* value = view.get_tensor("value");
  const auto target = elements(view.node().input(0));
  return one(value ? value->dtype() : DType::kF32, target ? std::optional<SymDims>(*target) : dims_of_length(view, 0));
}

}  // namespace mlopt::infer_rules
