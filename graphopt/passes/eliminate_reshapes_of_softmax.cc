// Reshape(Softmax(Reshape(x))) of x's shape -> Softmax(x), where what is normalized is one axis of x and only axes of
// length 1 lie behind it. How Softmax of opsets before 13 is written in later ones.
#include <algorithm>

#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

/// The last axis that is not of length 1; the elements along it lie side by side.
std::optional<size_t> last_axis(const SymDims& dims) {
  for (size_t i = dims.size(); i-- > 0;)
    if (!dims[i].is(1)) return i;
  return std::nullopt;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node &softmax = *m.node("softmax"), &reshape = *m.node("reshape");
  Value* x = m.value("x");
  const auto &dims = x->type.dims, &rows = reshape.output(0)->type.dims, &out = m.root->output(0)->type.dims;
  if (!dims || !rows || rows->empty() || !out || *out != *dims) return Decline{};
  if (!std::all_of(out->begin(), out->end(), [](const Dim& d) { return d.known(); })) return Decline{};
  const auto rank = static_cast<int64_t>(rows->size());
  const int64_t axis = builder.view(softmax).get_int("axis", builder.opset() < 13 ? 1 : -1);
  if (axis != -1 && axis != rank - 1) return Decline{"another axis than the last one"};
  const auto normalized = last_axis(*dims);
  if (!normalized || !((*dims)[*normalized] == rows->back())) return Decline{"its rows are not along one axis"};
  return Replacement{builder.op(softmax.op, {x}, {{"axis", static_cast<int64_t>(*normalized), ""}}, x->type)};
}

std::vector<Rule> rules() {
  constexpr const char* kLayouts = "Reshape|Flatten|Squeeze|Unsqueeze";
  Pattern reshape = Pattern::op(kLayouts, {Pattern::any("x")}).open().as("reshape");
  Pattern softmax = Pattern::op("Softmax|LogSoftmax", {std::move(reshape)}).as("softmax").single_use();
  return {{Pattern::op(kLayouts, {std::move(softmax)}).open(), rewrite}};
}

}  // namespace

const Pass eliminate_reshapes_of_softmax = {"eliminate_reshapes_of_softmax",
                                            "normalize along an axis without making rows of it and parting these again",
                                            rules};

}  // namespace mlopt::graphopt
