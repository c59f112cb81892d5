// Expand(x) -> x, Tile(x) -> x where the shape is provably the same.
#include <algorithm>

#include "core/ir/constant.h"
#include "core/tensor/cast.h"
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

/// An Expand whose lengths are neither 1 nor those of x is an error, which has to stay.
bool fails(const Node& node, const SymDims& dims) {
  const auto shape = node.is("Expand") && node.input(1) ? constant_or_known(*node.input(1)) : std::nullopt;
  if (!shape) return false;
  const std::vector<int64_t> lengths = to_ints(*shape);
  for (size_t back = 1; back <= std::min(lengths.size(), dims.size()); ++back) {
    const int64_t wanted = lengths[lengths.size() - back], length = dims[dims.size() - back].value().value_or(wanted);
    if (wanted != 1 && wanted != length) return true;
  }
  return false;
}

Expected<Replacement> rewrite(const Match& m, Builder&) {
  if (!same_dims(m.value("x")->type.dims, m.root->output(0)->type.dims)) return Decline{"it may change the shape"};
  if (fails(*m.root, *m.value("x")->type.dims)) return Decline{"it does not broadcast"};
  return Replacement{m.value("x")};
}

std::vector<Rule> rules() { return {{Pattern::op("Expand|Tile", {Pattern::any("x")}).open(), rewrite}}; }

}  // namespace

const Pass eliminate_nop_expand = {"eliminate_nop_expand", "remove Expand and Tile to the shape that a value has",
                                   rules};

}  // namespace mlopt::graphopt
