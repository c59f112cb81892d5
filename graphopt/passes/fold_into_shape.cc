// One size, or some that follow each other, taken from Shape(x) -> Shape(x) of these axes alone, which it gives since
// opset 15.
#include <algorithm>

#include "core/tensor/cast.h"
#include "graphopt/passes.h"
#include "graphopt/passes/slicing.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

/// Sizes [start, end) of x, negative ones counted from its last axis.
Expected<Replacement> part_of(const Match& m, int64_t start, int64_t end, Builder& builder) {
  constexpr int64_t kSince = 15;
  const NodeView shape = builder.view(*m.node("shape"));
  Value* x = m.value("x");
  if (!builder.has(kSince)) return Decline{"Shape gives all sizes before opset 15"};
  if (shape.has("start") || shape.has("end")) return Decline{"it is a part of the sizes already"};
  if (!x->type.dims) return Decline{"the rank of its input is not known"};
  const auto rank = static_cast<int64_t>(x->type.dims->size());
  if (start < 0 || start >= end || end > rank) return Decline{"its indices are not valid"};
  return Replacement{make_shape(builder, x, start, end, m.root->output(0)->type)};
}

/// Gather by a list, or by one number to which Unsqueeze gives its axis back.
Expected<Replacement> gathered(const Match& m, Builder& builder) {
  const Tensor& indices = m.constant("indices");
  const bool one = m.root->op == "Unsqueeze";
  if (indices.size() == 0 || indices.rank() != (one ? 0 : 1)) return Decline{"its indices are no list"};
  const auto &dims = m.value("x")->type.dims, &result = m.root->output(0)->type.dims;
  if (!dims) return Decline{"the rank of its input is not known"};
  if (!result || result->size() != 1) return Decline{"its result is no list"};
  std::vector<int64_t> at = to_ints(indices);
  for (size_t i = 0; i < at.size(); ++i) {
    at[i] += at[i] < 0 ? std::ssize(*dims) : 0;
    if (at[i] != at[0] + static_cast<int64_t>(i)) return Decline{"its indices do not follow each other"};
  }
  return part_of(m, at[0], at.back() + 1, builder);
}

Expected<Replacement> sliced(const Match& m, Builder& builder) {
  const auto part = Slicing::of(builder.view(*m.root));
  if (!part || part->axes.size() != 1 || part->steps[0] != 1)
    return Decline{"it takes no sizes that are known to follow"};
  const auto& dims = m.value("x")->type.dims;
  if (!dims) return Decline{"the rank of its input is not known"};
  const int64_t rank = std::ssize(*dims);
  const auto place = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  return part_of(m, place(part->starts[0]), place(part->ends[0]), builder);
}

std::vector<Rule> rules() {
  const Pattern shape = Pattern::op("Shape", {Pattern::any("x")}).open().as("shape");
  const Pattern gather = Pattern::op("Gather", {shape, Pattern::constant("indices")}).open();
  return {{Pattern::op("Unsqueeze", {gather}).open(), gathered},
          {gather, gathered},
          {Pattern::op("Slice", {shape}).open(), sliced}};
}

}  // namespace

const Pass fold_into_shape = {"fold_into_shape", "let Shape give the sizes that are taken from it (opset 15)", rules};

}  // namespace mlopt::graphopt
