#include "core/rewrite/fusion/repeated_heads.h"

#include "core/rewrite/axis_map.h"
#include "core/rewrite/fusion/attention_site.h"

namespace mlopt::fusion {
namespace {

/// An axis of length 1 behind the heads that became longer.
struct Repeat {
  Kept kept;
  SymDims joined;  ///< with the two as one axis
};

/// Of a value of five axes, which nothing but one operator reads.
std::optional<Repeat> repeat_of(const Value* v, size_t heads) {
  const Node* node = is_inner(v) ? v->producer : nullptr;
  if (!node || !(node->is("Expand") || node->is("Tile"))) return std::nullopt;
  const auto &wide = v->type.dims, &in = node->input(0)->type.dims;
  if (!wide || wide->size() != 5 || !in || in->size() != 5 || !(*in)[heads + 1].is(1)) return std::nullopt;
  const auto kept = (*in)[heads].value(), times = (*wide)[heads + 1].value();
  if (!kept || !times || !same_but(*in, *wide, {heads + 1})) return std::nullopt;
  SymDims joined = *in;
  joined[heads] = *kept * *times;
  joined.erase(joined.begin() + static_cast<std::ptrdiff_t>(heads) + 1);
  Value* before = before_axis(node->input(0), heads + 1);
  return Repeat{{before ? before : node->input(0), *times}, joined};
}

}  // namespace

Kept unrepeated(Value* v, size_t heads) {
  const Node* joined = made_by(v, "Reshape");
  const auto repeat = joined ? repeat_of(joined->input(0), heads) : std::nullopt;
  return repeat && v->type.dims == repeat->joined ? repeat->kept : Kept{v};
}

Kept unrepeated_turned(Value* v, const Builder& builder) {
  const Node* joined = made_by(v, "Reshape");
  const Node* turn = joined ? made_by(joined->input(0), "Transpose") : nullptr;
  auto repeat = turn && builder.view(*turn).get_ints("perm") == std::vector<int64_t>{0, 1, 2, 4, 3}
                    ? repeat_of(turn->input(0), 1)
                    : std::nullopt;
  if (repeat) std::swap(repeat->joined[2], repeat->joined[3]);
  return repeat && v->type.dims == repeat->joined ? repeat->kept : Kept{v};
}

}  // namespace mlopt::fusion
