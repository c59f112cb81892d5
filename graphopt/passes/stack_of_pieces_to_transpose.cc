// Concat(Unsqueeze(x[:, 0]), Unsqueeze(x[:, 1]), ...) of all pieces of an axis, first or last one first -> x, or x
// reversed, its axes in the order of the Concat: what is left where the steps in between became one operator.
#include "core/rewrite/axis_map.h"
#include "graphopt/passes.h"
#include "graphopt/passes/lanes.h"
#include "graphopt/passes/slicing.h"
#include "graphopt/passes/taken_rows.h"

namespace mlopt::graphopt {
namespace {

/// The piece without its axis that is stacked along `axis`, or the piece itself where it keeps that.
std::optional<Piece> stacked_piece(const Value* v, size_t axis, const Builder& builder) {
  if (const Value* row = before_axis(v, axis)) {
    const auto piece = piece_of(row, builder);
    if (piece && !piece->stays) return piece;
  }
  const auto piece = piece_of(v, builder);
  return piece && piece->stays && piece->axis == axis ? piece : std::nullopt;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const std::vector<Value*>& parts = m.root->inputs();
  const Type& type = m.root->output(0)->type;
  const auto axis = type.dims ? place_in(builder.view(*m.root).get_int("axis", 1), type.dims->size()) : std::nullopt;
  const auto first = axis && parts.size() > 1 ? stacked_piece(parts[0], *axis, builder) : std::nullopt;
  if (!first) return Decline{};
  const int64_t way = first->start == 0 ? 1 : -1;
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto piece = stacked_piece(parts[i], *axis, builder);
    if (!piece || piece->of != first->of || piece->axis != first->axis) return Decline{"it joins other values as well"};
    if (piece->length != 1 || piece->start != first->start + way * static_cast<int64_t>(i))
      return Decline{"the pieces are in another order"};
  }
  Value* x = first->of;
  if (with_moved(*x->type.dims, first->axis, *axis) != *type.dims) return Decline{"it does not join all pieces"};
  if (way == -1 && builder.opset() < 10) return Decline{"Slice needs opset 10 to go backwards"};
  x = move_axis(x, first->axis, *axis, builder);
  return Replacement{way == 1 ? x : reversed(builder, x, *axis)};
}

std::vector<Rule> rules() { return {{Pattern::op("Concat", {}).open(), rewrite}}; }

}  // namespace

const Pass stack_of_pieces_to_transpose = {"stack_of_pieces_to_transpose",
                                           "replace a stack of all pieces of an axis by a Transpose", rules};

}  // namespace mlopt::graphopt
