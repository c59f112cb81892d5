// Concat of pieces some of which have no elements -> of the others.
#include "core/rewrite/lower/passes.h"

namespace mlopt::lower {
namespace {

bool is_empty(const Value* piece) {
  const auto dims = piece->type.static_dims();
  return dims && element_count(*dims) == 0;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  std::vector<Value*> pieces = m.root->inputs();
  std::erase_if(pieces, is_empty);
  if (pieces.empty() || pieces.size() == m.root->inputs().size()) return Decline{"all pieces have elements, or none"};
  const Type& type = m.root->output(0)->type;
  if (pieces.size() == 1) return Replacement{builder.op("Identity", std::move(pieces), {}, type)};
  return Replacement{builder.op("Concat", std::move(pieces), m.root->attrs, type)};
}

std::vector<Rule> rules() { return {{Pattern::op("Concat", {}).open(), rewrite}}; }

}  // namespace

const Pass empty_pieces = {"empty_pieces", "Concat without the pieces that have no elements", rules};

}  // namespace mlopt::lower
