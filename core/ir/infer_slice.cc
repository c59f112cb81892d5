#include <cstdint>

#include "core/ir/infer_types.h"
#include "core/ir/slice_span.h"

namespace mlopt::infer_rules {
namespace {

/// What exporters write for "to the end" and "from before the beginning", whatever the size.
bool beyond(const Dim& d) { return d.value() && *d.value() >= kBeyondSizes; }
bool before(const Dim& d) { return d.value() && *d.value() <= -kBeyondSizes; }

/// Is what lies from a number on, up to what is no more than n, as many as a symbol says?
bool is_rest(const Dim& n, const Dim& start, const Dim& end) {
  const auto from = start.value(), behind = (n - end).value();
  return from && *from >= 0 && behind && *behind >= 0 && (end - start).symbol_name();
}

Dim sliced(const Dim& n, const Dim& start, const Dim& end, int64_t step) {
  if (n.value() && start.value() && end.value() && step != 0)
    return slice_span(*n.value(), *start.value(), *end.value(), step).count;
  if (step == 1 && start.is(0) && (end == n || beyond(end))) return n;
  // What was broadcast to n is n or 1.
  if (step == 1 && start.is(0) && !end.value() && is_choice_of(end, n)) return end;
  if (const auto length = end.symbol_name(); step == 1 && start.is(0) && length && n.value() && *n.value() > 1)
    return Dim::symbol(at_most(*length, *n.value()));
  if (const Dim& stop = beyond(end) ? n : end; step == 1 && is_rest(n, start, stop)) return stop - start;
  if (step == -1 && (start.is(-1) || beyond(start)) && before(end)) return n;
  return {};
}

/// Input i, or the attribute of the first opsets.
std::optional<std::vector<Dim>> bounds(const NodeView& view, const char* name, int i) {
  if (view.opset() >= 10) return elements(view.node().input(i));
  const std::vector<int64_t> given = view.get_ints(name);
  return std::vector<Dim>(given.begin(), given.end());
}

}  // namespace

Types slice(const NodeView& view) {
  const auto& x = dims_of(view, 0);
  if (!x) return one(dtype_of(view, 0), std::nullopt);
  const auto starts = bounds(view, "starts", 1), ends = bounds(view, "ends", 2);
  const auto axes = view.ints("axes", 3);
  const auto steps = view.opset() < 10 ? std::vector<int64_t>{} : view.ints("steps", 4);
  if (!starts || !ends || !axes || !steps || ends->size() != starts->size())
    return one(dtype_of(view, 0), SymDims(x->size()));
  SymDims out = *x;
  for (size_t i = 0; i < starts->size(); ++i) {
    int64_t axis = i < axes->size() ? (*axes)[i] : static_cast<int64_t>(i);
    if (axis < 0) axis += static_cast<int64_t>(x->size());
    if (axis < 0 || axis >= static_cast<int64_t>(x->size())) return one(dtype_of(view, 0), SymDims(x->size()));
    Dim& d = out[static_cast<size_t>(axis)];
    d = sliced(d, (*starts)[i], (*ends)[i], i < steps->size() ? (*steps)[i] : 1);
  }
  return one(dtype_of(view, 0), out);
}

}  // namespace mlopt::infer_rules
