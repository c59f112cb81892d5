// Operators that cut a tensor, put borders around it or repeat it. An empty list leaves a node to the standard's rule.
#include "core/ir/infer_types.h"

namespace mlopt::infer_rules {
namespace {

/// Lengths of `count` pieces of `whole`; the last one is shorter where they cannot be equal.
std::vector<Dim> equal_pieces(const Dim& whole, size_t count) {
  const auto pieces = static_cast<int64_t>(count);
  const auto exact = Dim::divide(whole, pieces);
  std::vector<Dim> lengths(count, exact ? *exact : Dim());
  if (exact || !whole.value()) return lengths;
  const int64_t most = (*whole.value() + pieces - 1) / pieces, rest = *whole.value() - most * (pieces - 1);
  if (rest < 0) return lengths;
  lengths.assign(count, Dim(most));
  lengths.back() = Dim(rest);
  return lengths;
}

std::optional<std::vector<Dim>> piece_lengths(const NodeView& view, const Dim& whole) {
  const size_t count = view.node().outputs().size();
  if (view.opset() >= 13 && view.node().input(1)) return elements(view.node().input(1));
  const std::vector<int64_t> given = view.opset() < 13 ? view.get_ints("split") : std::vector<int64_t>{};
  if (given.empty() && view.opset() >= 18 && !view.has("num_outputs")) return std::nullopt;
  if (given.empty()) return equal_pieces(whole, count);
  return std::vector<Dim>(given.begin(), given.end());
}

}  // namespace

Types split(const NodeView& view) {
  const auto& x = dims_of(view, 0);
  const auto axis = x ? axis_in(view.get_int("axis", 0), x->size()) : std::nullopt;
  const auto lengths = axis && view.opset() > 1 ? piece_lengths(view, (*x)[*axis]) : std::nullopt;
  if (!lengths || lengths->size() != view.node().outputs().size()) return {};
  Types types;
  for (const Dim& length : *lengths) {
    SymDims dims = *x;
    dims[*axis] = length;
    types.push_back(Type::tensor(dtype_of(view, 0), std::move(dims)));
  }
  return types;
}

Types pad(const NodeView& view) {
  const auto& x = dims_of(view, 0);
  const auto pads = view.ints("pads", 1), axes = view.ints("axes", 3);
  if (!x || !pads || !axes || view.opset() < 2) return {};
  const size_t count = axes->empty() ? x->size() : axes->size();
  if (pads->size() != 2 * count) return {};
  SymDims out = *x;
  for (size_t i = 0; i < count; ++i) {
    const auto axis = axis_in(axes->empty() ? static_cast<int64_t>(i) : (*axes)[i], x->size());
    if (!axis) return {};
    Dim& d = out[*axis];
    d = d + Dim((*pads)[i]) + Dim((*pads)[i + count]);
  }
  return one(dtype_of(view, 0), std::move(out));
}

Types tile(const NodeView& view) {
  const auto& x = dims_of(view, 0);
  const auto repeats = view.opset() < 6 ? std::nullopt : elements(view.node().input(1));
  if (!x || !repeats || repeats->size() != x->size()) return {};
  SymDims out = *x;
  for (size_t i = 0; i < out.size(); ++i) out[i] = out[i] * (*repeats)[i];
  return one(dtype_of(view, 0), std::move(out));
}

Types depth_to_space(const NodeView& view) {
  auto dims = dims_of(view, 0);
  const int64_t side = view.get_int("blocksize", 0);
  const auto depth =
      dims && dims->size() == 4 && side > 0 ? Dim::divide((*dims)[1], Dim(side) * Dim(side)) : std::nullopt;
  if (!depth) return {};
  (*dims)[1] = *depth;
  for (size_t i = 2; i < 4; ++i) (*dims)[i] = (*dims)[i] * Dim(side);
  return one(dtype_of(view, 0), std::move(dims));
}

}  // namespace mlopt::infer_rules
