// ReverseSequence of as many entries as there are, for each sample -> Slice with a step of -1, which other rewrites
// know: Keras's layers that go backwards.
#include "core/rewrite/fusion/counting.h"
#include "graphopt/passes.h"
#include "graphopt/passes/slicing.h"
#include "graphopt/passes/taken_rows.h"

namespace mlopt::graphopt {
namespace {

/// The one length that all samples have.
std::optional<Dim> common_length(const Value* lengths) {
  if (const auto number = fusion::only_number(lengths)) return Dim(static_cast<int64_t>(*number));
  const Node* expand = producer_of(lengths, "Expand");
  return expand ? fusion::dim_in(expand->input(0)) : std::nullopt;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  if (!x->type.dims || builder.opset() < 10) return Decline{"its shape is not known"};
  const auto axis = place_in(builder.view(*m.root).get_int("time_axis", 0), x->type.dims->size());
  const auto length = common_length(m.value("lengths"));
  if (!axis || !length || !(*length == (*x->type.dims)[*axis])) return Decline{"samples may be of other lengths"};
  return Replacement{reversed(builder, x, *axis)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("ReverseSequence", {Pattern::any("x"), Pattern::any("lengths")}), rewrite}};
}

}  // namespace

const Pass reverse_sequence_to_slice = {"reverse_sequence_to_slice",
                                        "replace ReverseSequence of whole sequences by a Slice backwards", rules};

}  // namespace mlopt::graphopt
