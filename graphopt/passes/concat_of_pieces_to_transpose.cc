// Concat(Squeeze(a), Squeeze(b)) along the last axis, where a and b are all that Split makes of an axis, one by one ->
// Reshape(Transpose), which takes two operators however many pieces there are: both directions of a recurrent layer.
#include <algorithm>
#include <numeric>

#include "core/rewrite/axis_map.h"
#include "graphopt/passes.h"
#include "graphopt/passes/reduction.h"

namespace mlopt::graphopt {
namespace {

using Ints = std::vector<int64_t>;

int64_t split_axis(const Node& split, const Builder& builder) {
  const auto& dims = split.input(0)->type.dims;
  const int64_t axis = builder.view(split).get_int("axis", 0);
  return axis < 0 && dims ? axis + std::ssize(*dims) : axis;
}

/// The piece that a Split made, where v is it without the axis that was split; null for other values.
const Value* piece_of(const Value* v, const Builder& builder) {
  const Node* squeeze = v && v->single_use() ? producer_of(v, "Squeeze") : nullptr;
  const Value* piece = squeeze && squeeze->input(0)->single_use() ? squeeze->input(0) : nullptr;
  const Node* split = producer_of(piece, "Split");
  const auto axes = split ? squeezed_axes(builder.view(*squeeze)) : std::nullopt;
  return axes && *axes == Ints{split_axis(*split, builder)} ? piece : nullptr;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const std::vector<Value*>& parts = m.root->inputs();
  const Value* first = parts.size() > 1 ? piece_of(parts.front(), builder) : nullptr;
  if (!first) return Decline{};
  const Node& split = *first->producer;
  const auto &dims = split.input(0)->type.dims, &out = m.root->output(0)->type.dims;
  if (!dims || !out) return Decline{"its shape is not known"};
  const int64_t rank = std::ssize(*dims), axis = split_axis(split, builder);
  const int64_t joined = builder.view(*m.root).get_int("axis", 0);
  if (axis + 1 == rank || (joined != -1 && joined != rank - 2)) return Decline{"it joins other axes than the last one"};
  if (parts.size() != split.outputs().size()) return Decline{"it does not join all pieces"};
  for (size_t i = 0; i < parts.size(); ++i)
    if (piece_of(parts[i], builder) != split.outputs()[i]) return Decline{"the pieces are in another order"};
  Ints perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::rotate(perm.begin() + axis, perm.begin() + axis + 1, perm.end() - 1);
  SymDims turned;
  for (const int64_t i : perm) turned.push_back((*dims)[static_cast<size_t>(i)]);
  const auto target = reshape_target(turned, *out);
  if (!target) return Decline{"its shape is not known"};
  const Type& type = m.root->output(0)->type;
  Value* y = split.input(0);
  if (axis + 2 < rank) y = builder.op("Transpose", {y}, {{"perm", perm, ""}}, Type::tensor(type.dtype, turned));
  return Replacement{make_reshape(builder, y, *target, type)};
}

std::vector<Rule> rules() { return {{Pattern::op("Concat", {}).open(), rewrite}}; }

}  // namespace

const Pass concat_of_pieces_to_transpose = {
    "concat_of_pieces_to_transpose", "replace a Concat of all pieces of an axis by a Transpose and a Reshape", rules};

}  // namespace mlopt::graphopt
