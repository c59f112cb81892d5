// Concat(x[:, 0], x[:, 1], ...) along the last axis of all pieces of another one -> Reshape(Transpose), which takes two
// operators however many pieces there are: both directions of a recurrent layer.
#include "core/rewrite/axis_map.h"
#include "graphopt/passes.h"
#include "graphopt/passes/lanes.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const std::vector<Value*>& parts = m.root->inputs();
  const auto first = parts.size() > 1 ? piece_of(parts.front(), builder) : std::nullopt;
  if (!first || first->stays) return Decline{};
  const Type& type = m.root->output(0)->type;
  const auto &dims = first->of->type.dims, &out = type.dims;
  if (!dims || !out) return Decline{"its shape is not known"};
  const size_t rank = dims->size();
  const int64_t joined = builder.view(*m.root).get_int("axis", 0);
  if (first->axis + 1 == rank || (joined != -1 && joined != std::ssize(*dims) - 2))
    return Decline{"it joins other axes than the last one"};
  if (!(*dims)[first->axis].is(std::ssize(parts))) return Decline{"it does not join all pieces"};
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto piece = parts[i]->single_use() ? piece_of(parts[i], builder) : std::nullopt;
    if (!piece || piece->stays || piece->of != first->of || piece->axis != first->axis ||
        piece->start != static_cast<int64_t>(i))
      return Decline{"the pieces are in another order"};
  }
  const auto target = reshape_target(with_moved(*dims, first->axis, rank - 2), *out);
  if (!target) return Decline{"its shape is not known"};
  return Replacement{make_reshape(builder, move_axis(first->of, first->axis, rank - 2, builder), *target, type)};
}

std::vector<Rule> rules() { return {{Pattern::op("Concat", {}).open(), rewrite}}; }

}  // namespace

const Pass concat_of_pieces_to_transpose = {
    "concat_of_pieces_to_transpose", "replace a Concat of all pieces of an axis by a Transpose and a Reshape", rules};

}  // namespace mlopt::graphopt
