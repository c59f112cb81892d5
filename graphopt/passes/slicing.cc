#include "graphopt/passes/slicing.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/ir/slice_span.h"
#include "graphopt/passes/reduction.h"
#include "graphopt/passes/taken_rows.h"

namespace mlopt::graphopt {

std::optional<Slicing> Slicing::of(const NodeView& view) {
  const auto starts = view.ints("starts", 1), ends = view.ints("ends", 2);
  auto axes = view.ints("axes", 3);
  auto steps = view.opset() < 10 ? std::vector<int64_t>{} : view.ints("steps", 4);
  const auto& dims = view.node().input(0)->type.dims;
  if (!starts || !ends || !axes || !steps || !dims || starts->size() != ends->size()) return std::nullopt;
  if (axes->empty()) {
    axes->resize(starts->size());
    std::iota(axes->begin(), axes->end(), int64_t{0});
  }
  if (steps->empty()) steps->assign(starts->size(), 1);
  const auto rank = static_cast<int64_t>(dims->size());
  if (axes->size() != starts->size() || steps->size() != starts->size() || !ordered_axes(*axes, rank))
    return std::nullopt;
  for (int64_t& axis : *axes) axis += axis < 0 ? rank : 0;
  return Slicing{*axes, *starts, *ends, *steps};
}

Value* Slicing::make(Builder& builder, Value* x, Type type) const {
  if (builder.opset() < 10)
    return builder.op("Slice", {x}, {{"axes", axes, {}}, {"starts", starts, {}}, {"ends", ends, {}}}, std::move(type));
  const auto ints = [&](const char* what, const std::vector<int64_t>& values) {
    return builder.constant(x->name + what, Tensor::ints(values));
  };
  std::vector<Value*> inputs = {x, ints("_starts", starts), ints("_ends", ends), ints("_axes", axes)};
  if (std::any_of(steps.begin(), steps.end(), [](int64_t step) { return step != 1; }))
    inputs.push_back(ints("_steps", steps));
  return builder.op("Slice", std::move(inputs), {}, std::move(type));
}

std::optional<size_t> reversed_axis(const NodeView& slice) {
  const auto slicing = Slicing::of(slice);
  if (!slicing || slicing->axes.size() != 1 || slicing->steps[0] != -1) return std::nullopt;
  const auto axis = static_cast<size_t>(slicing->axes[0]);
  // A size that is not known is below any limit that exporters write for "all".
  const int64_t length = (*slice.node().input(0)->type.dims)[axis].value().value_or(kBeyondSizes);
  const SliceSpan span = slice_span(length, slicing->starts[0], slicing->ends[0], -1);
  return span.count == length ? std::optional(axis) : std::nullopt;
}

Value* reversed(Builder& builder, Value* x, size_t axis) {
  const Slicing all{{static_cast<int64_t>(axis)}, {-1}, {std::numeric_limits<int64_t>::min()}, {-1}};
  return all.make(builder, x, x->type);
}

Type Cut::type_of(const Value& x) const {
  Type type = x.type;
  if (!type.dims || is_whole()) return type;
  const Dim rest = (*type.dims)[axis] - Dim(from);
  // What is shorter than `from` has no rest, rather than a negative one.
  (*type.dims)[axis] = to ? Dim(*to - from) : rest.value() || rest.symbol_name() ? rest : Dim();
  return type;
}

Value* CutPiece::make(Builder& builder) const {
  if (cut.is_whole()) return of;
  const Slicing slicing{{static_cast<int64_t>(cut.axis)}, {cut.from}, {cut.to.value_or(INT64_MAX)}, {1}};
  return slicing.make(builder, of, cut.type_of(*of));
}

namespace {

/// Of what a Concat along the same axis joins; nothing where it is another operator, or lengths are not known.
std::optional<std::vector<CutPiece>> joined_pieces(const Value* x, const Cut& cut, const Builder& builder) {
  const Node* concat = producer_of(x, "Concat");
  const auto& dims = x->type.dims;
  if (!concat || !dims || place_in(builder.view(*concat).get_int("axis", 1), dims->size()) != cut.axis)
    return std::nullopt;
  std::vector<CutPiece> pieces;
  int64_t start = 0;
  for (size_t i = 0; i < concat->inputs().size(); ++i) {
    if (cut.to && *cut.to <= start) break;
    Value* input = concat->inputs()[i];
    const auto length = input->type.dims ? (*input->type.dims)[cut.axis].value() : std::nullopt;
    if (!length && i + 1 < concat->inputs().size()) return std::nullopt;
    const int64_t from = std::max<int64_t>(cut.from - start, 0);
    std::optional<int64_t> to;
    if (cut.to && (!length || *cut.to - start < *length)) to = *cut.to - start;
    if (!length || from < *length) {
      const std::vector<CutPiece> inner = cut_pieces(input, {cut.axis, from, to}, builder);
      pieces.insert(pieces.end(), inner.begin(), inner.end());
    }
    start += length.value_or(0);
  }
  return pieces;
}

/// The same part of what a Slice along the same axis cuts.
std::optional<CutPiece> inner_piece(const Value* x, const Cut& cut, const Builder& builder) {
  const Node* slice = producer_of(x, "Slice");
  const auto slicing = slice ? Slicing::of(builder.view(*slice)) : std::nullopt;
  if (!slicing || slicing->axes != std::vector{static_cast<int64_t>(cut.axis)} || slicing->steps[0] != 1)
    return std::nullopt;
  const int64_t start = slicing->starts[0];
  if (start < 0 || start >= kBeyondSizes) return std::nullopt;
  const auto to = cut.to || !x->type.dims ? cut.to : (*x->type.dims)[cut.axis].value();
  if (to) return CutPiece{slice->input(0), {cut.axis, start + cut.from, start + *to}};
  // An end that is a number may lie behind the last one.
  if (slicing->ends[0] < kBeyondSizes) return std::nullopt;
  return CutPiece{slice->input(0), {cut.axis, start + cut.from, std::nullopt}};
}

}  // namespace

std::vector<CutPiece> cut_pieces(Value* x, const Cut& cut, const Builder& builder) {
  const auto length = x->type.dims ? (*x->type.dims)[cut.axis] : Dim();
  if (cut.to ? *cut.to == cut.from : length.is(cut.from)) return {};
  if (cut.to && length.is(*cut.to)) return cut_pieces(x, {cut.axis, cut.from, std::nullopt}, builder);
  if (cut.from == 0 && !cut.to) return {{x, cut}};
  if (auto pieces = joined_pieces(x, cut, builder)) return *pieces;
  if (const auto inner = inner_piece(x, cut, builder)) return cut_pieces(inner->of, inner->cut, builder);
  return {{x, cut}};
}

}  // namespace mlopt::graphopt
