// Shape(Unsqueeze(x)), also over Squeeze, Reshape and Transpose -> Shape(x), where the sizes that it gives are sizes of
// x that follow each other: so the value between them is not kept for its shape alone (opset 15).
#include <algorithm>

#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

/// Where `part` begins in `whole`.
std::optional<int64_t> place_of(const SymDims& part, const SymDims& whole) {
  const auto at = std::search(whole.begin(), whole.end(), part.begin(), part.end());
  return at == whole.end() ? std::nullopt : std::optional(at - whole.begin());
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  constexpr int64_t kSince = 15;
  const auto &in = m.value("x")->type.dims, &out = m.node("layout")->output(0)->type.dims;
  if (!builder.has(kSince)) return Decline{"Shape gives all sizes before opset 15"};
  if (!in || !out) return Decline{"the rank of its input is not known"};
  const NodeView shape = builder.view(*m.root);
  const int64_t rank = std::ssize(*out);
  const auto place = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const int64_t start = place(shape.get_int("start", 0)), end = place(shape.get_int("end", rank));
  if (start >= end) return Decline{"it gives no size"};
  const auto at = place_of(SymDims(out->begin() + start, out->begin() + end), *in);
  if (!at) return Decline{"they are not known to be sizes of what it is made of"};
  return Replacement{make_shape(builder, m.value("x"), *at, *at + end - start, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  Pattern layout = Pattern::op("Unsqueeze|Squeeze|Reshape|Flatten|Transpose", {Pattern::any("x")}).open().as("layout");
  return {{Pattern::op("Shape", {std::move(layout)}), rewrite}};
}

}  // namespace

const Pass push_shapes = {"push_shapes", "take sizes from what a Reshape or Transpose is made of (opset 15)", rules};

}  // namespace mlopt::graphopt
