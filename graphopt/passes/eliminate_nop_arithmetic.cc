// x + 0, x - 0, x * 1, x / 1, x ^ 1 -> x where the constant broadcasts to x and not the other way.
#include <algorithm>

#include "core/tensor/cast.h"
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder&) {
  Value* x = m.value("x");
  const Tensor& c = m.constant("c");
  const std::string& op = m.root->op;
  const double neutral = op == "Add" || op == "Sub" ? 0 : 1;
  constexpr int64_t kMost = 1 << 16;
  if (c.dtype() == DType::kString || c.size() > kMost) return Decline{"its constant is no small tensor of numbers"};
  const std::vector<double> numbers = to_doubles(c);
  if (std::any_of(numbers.begin(), numbers.end(), [&](double n) { return n != neutral; }))
    return Decline{"its constant is not neutral"};
  const bool scalar = c.size() == 1 && x->type.dims && c.rank() <= static_cast<int>(x->type.dims->size());
  if (!scalar && !same_dims(x->type.dims, m.root->output(0)->type.dims)) return Decline{"it may broadcast"};
  if (op == "Pow" && x->type.dtype != c.dtype() && !is_float(x->type.dtype)) return Decline{"its types differ"};
  return Replacement{x};
}

std::vector<Rule> rules() {
  return {{Pattern::op("Add|Mul", {Pattern::any("x"), Pattern::constant("c")}).any_order(), rewrite},
          {Pattern::op("Sub|Div|Pow", {Pattern::any("x"), Pattern::constant("c")}), rewrite}};
}

}  // namespace

const Pass eliminate_nop_arithmetic = {"eliminate_nop_arithmetic", "remove x + 0, x - 0, x * 1, x / 1 and x ^ 1",
                                       rules};

}  // namespace mlopt::graphopt
