// Slice of one of the values that a Concat joins, or of a part of it -> that value, or a Slice of it.
#include "core/ir/slice_span.h"
#include "graphopt/passes.h"
#include "graphopt/passes/slicing.h"

namespace mlopt::graphopt {
namespace {

/// The part that it takes, whatever the length; nothing where that decides which.
std::optional<Cut> cut_of(const Slicing& slicing, const Dim& length) {
  const int64_t start = slicing.starts[0], end = slicing.ends[0];
  const auto axis = static_cast<size_t>(slicing.axes[0]);
  if (const auto all = length.value()) {
    const SliceSpan span = slice_span(*all, start, end, 1);
    if (span.count == 0) return std::nullopt;
    const int64_t to = span.first + span.count;
    return Cut{axis, span.first, to == *all ? std::nullopt : std::optional(to)};
  }
  if (start < 0 || start >= kBeyondSizes || end < kBeyondSizes) return std::nullopt;
  return Cut{axis, start, std::nullopt};
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const auto slicing = Slicing::of(builder.view(*m.root));
  if (!slicing || slicing->axes.size() != 1 || slicing->steps[0] != 1) return Decline{};
  Value* x = m.root->input(0);
  const auto cut = cut_of(*slicing, (*x->type.dims)[static_cast<size_t>(slicing->axes[0])]);
  if (!cut) return Decline{"where it begins or ends is not known"};
  const std::vector<CutPiece> pieces = cut_pieces(x, *cut, builder);
  if (pieces.size() != 1 || pieces[0].of == x) return Decline{"it takes parts of several"};
  return Replacement{pieces[0].make(builder)};
}

std::vector<Rule> rules() { return {{Pattern::op("Slice", {Pattern::op("Concat", {}).open()}).open(), rewrite}}; }

}  // namespace

const Pass eliminate_slice_of_concat = {"eliminate_slice_of_concat",
                                        "slice what a Concat joins rather than what it makes", rules};

}  // namespace mlopt::graphopt
