// x + 0, x - 0, x * 1, x / 1, x ^ 1, max(x, -inf), min(x, inf) -> x where the constant broadcasts to x and not the
// other way, and clip(x) between infinities.
#include <algorithm>
#include <limits>

#include "core/tensor/cast.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Does the shape of x, as far as it is known, show that the constant does not enlarge it?
bool broadcasts_to(const Tensor& c, const Value* x) {
  const auto& dims = x->type.dims;
  if (!dims || static_cast<size_t>(c.rank()) > dims->size()) return false;
  const size_t ahead = dims->size() - static_cast<size_t>(c.rank());
  for (size_t i = 0; i < static_cast<size_t>(c.rank()); ++i)
    if (const int64_t length = c.dim(static_cast<int>(i)); length != 1 && !(*dims)[ahead + i].is(length)) return false;
  return true;
}

Expected<Replacement> rewrite(const Match& m, Builder&) {
  Value* x = m.value("x");
  const Tensor& c = m.constant("c");
  const std::string& op = m.root->op;
  const double neutral = op == "Add" || op == "Sub" ? 0 : op == "Max" ? -kInfinity : op == "Min" ? kInfinity : 1;
  constexpr int64_t kMost = 1 << 16;
  if (c.dtype() == DType::kString || c.size() > kMost) return Decline{"its constant is no small tensor of numbers"};
  const std::vector<double> numbers = to_doubles(c);
  if (std::any_of(numbers.begin(), numbers.end(), [&](double n) { return n != neutral; }))
    return Decline{"its constant is not neutral"};
  if (!broadcasts_to(c, x)) return Decline{"it may broadcast"};
  if (op == "Pow" && x->type.dtype != c.dtype() && !is_float(x->type.dtype)) return Decline{"its types differ"};
  return Replacement{x};
}

Expected<Replacement> unlimited(const Match& m, Builder& builder) {
  const NodeView clip = builder.view(*m.root);
  if (clip.opset() < 11) return Decline{"limits that are left out are those of float32 before opset 11"};
  if (!clip.node().input(1) || !clip.node().input(2))
    return Decline{"a limit that is left out is the largest finite number"};
  if (clip.number("min", 1, -kInfinity) != -kInfinity || clip.number("max", 2, kInfinity) != kInfinity)
    return Decline{"it has limits"};
  return Replacement{m.value("x")};
}

std::vector<Rule> rules() {
  return {{Pattern::op("Add|Mul|Max|Min", {Pattern::any("x"), Pattern::constant("c")}).any_order(), rewrite},
          {Pattern::op("Sub|Div|Pow", {Pattern::any("x"), Pattern::constant("c")}), rewrite},
          {Pattern::op("Clip", {Pattern::any("x")}).open(), unlimited}};
}

}  // namespace

const Pass eliminate_nop_arithmetic = {"eliminate_nop_arithmetic",
                                       "remove x + 0, x - 0, x * 1, x / 1, x ^ 1 and limits that are infinite", rules};

}  // namespace mlopt::graphopt
