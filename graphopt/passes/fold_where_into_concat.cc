// Where(c, k, Concat(a, b, ...)) -> Concat(a, k's numbers, ...) for constants c and k that choose between whole
// operands of the Concat: PyTorch's expand(n, -1, -1) writes sizes so.
#include "core/tensor/cast.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

/// Whether all flags of [begin, end) are the same; nothing is chosen from an empty range.
bool uniform(const std::vector<double>& flags, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    if (flags[static_cast<size_t>(i)] != flags[static_cast<size_t>(begin)]) return false;
  return end > begin;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Tensor &condition = m.constant("condition"), &other = m.constant("other");
  const Node& concat = *m.node("concat");
  const bool takes_other = m.root->input(1) == m.value("other");
  if (condition.dtype() != DType::kBool || condition.rank() != 1) return Decline{"its condition is no list"};
  if (other.dtype() != DType::kI64) return Decline{"its operands are no sizes"};
  const int64_t length = condition.size();
  if (other.rank() > 1 || (other.size() != 1 && other.size() != length)) return Decline{"its operands broadcast"};
  const std::vector<double> flags = to_doubles(condition);
  std::vector<std::pair<int64_t, int64_t>> ranges;
  int64_t at = 0;
  for (const Value* part : concat.inputs()) {
    const auto dims = part ? part->type.static_dims() : std::nullopt;
    if (!dims || dims->size() != 1) return Decline{"the lengths of what is concatenated are not known"};
    const int64_t end = at + (*dims)[0];
    if (end > length || !uniform(flags, at, end)) return Decline{"it chooses within an operand"};
    ranges.emplace_back(at, end);
    at = end;
  }
  if (at != length) return Decline{"its operands broadcast"};
  std::vector<Value*> parts = concat.inputs();
  const std::vector<int64_t> all = to_ints(other);
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto [begin, end] = ranges[i];
    if ((flags[static_cast<size_t>(begin)] != 0) != takes_other) continue;
    std::vector<int64_t> numbers;
    for (int64_t k = begin; k < end; ++k) numbers.push_back(all[all.size() == 1 ? 0 : static_cast<size_t>(k)]);
    parts[i] = builder.constant("sizes", Tensor::ints(numbers));
  }
  return Replacement{builder.op("Concat", std::move(parts), concat.attrs, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  const auto parts = [] { return Pattern::op("Concat", {}).open().as("concat"); };
  const Pattern condition = Pattern::constant("condition"), other = Pattern::constant("other");
  return {{Pattern::op("Where", {condition, other, parts()}), rewrite},
          {Pattern::op("Where", {condition, parts(), other}), rewrite}};
}

}  // namespace

const Pass fold_where_into_concat = {"fold_where_into_concat",
                                     "join constants in place of choosing them from what was joined", rules};

}  // namespace mlopt::graphopt
