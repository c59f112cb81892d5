// Tile(x) once along every axis -> x.
#include <algorithm>

#include "core/tensor/cast.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  if (builder.opset() < 6) return Decline{"its opset repeats one axis"};
  const std::vector<int64_t> repeats = to_ints(m.constant("repeats"));
  if (std::any_of(repeats.begin(), repeats.end(), [](int64_t n) { return n != 1; }))
    return Decline{"it repeats an axis"};
  return Replacement{m.value("x")};
}

std::vector<Rule> rules() {
  return {{Pattern::op("Tile", {Pattern::any("x"), Pattern::constant("repeats")}), rewrite}};
}

}  // namespace

const Pass eliminate_nop_tile = {"eliminate_nop_tile", "remove Tile that repeats nothing", rules};

}  // namespace mlopt::graphopt
