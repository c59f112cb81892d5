// Gather(data, Where(i < 0, i + n, i)) -> Gather(data, i) where n is the length of the axis: Gather counts negative
// indices from the end by itself, which TensorFlow's exporter spells out. Only an index that is out of range anyway, by
// more than one length below zero, is refused where it was wrapped before.
#include "core/rewrite/fusion/counting.h"
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

constexpr int64_t kSince = 11;  ///< the opset that allowed negative indices

/// Is it true exactly where i is negative?
bool is_negative(const Value* v, const Value* i) {
  const Node* less = producer_of(v, "Less");
  if (!less || fusion::only_number(less->input(1)) != 0.0) return false;
  const Node* cast = producer_of(less->input(0), "Cast");
  const bool keeps_sign = cast && is_float(cast->output(0)->type.dtype);
  return less->input(0) == i || (keeps_sign && cast->input(0) == i);
}

/// Is v the sum of i and the length?
bool adds_length(const Value* v, const Value* i, const Dim& length) {
  const Node* sum = producer_of(v, "Add");
  for (const int k : {0, 1})
    if (sum && sum->input(k) == i)
      if (const auto added = fusion::dim_in(sum->input(1 - k))) return *added == length;
  return false;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const auto& dims = m.value("data")->type.dims;
  Value* i = m.value("i");
  if (builder.opset() < kSince) return Decline{"indices are not negative before opset 11"};
  if (!dims || !is_integer(i->type.dtype) || !is_signed(i->type.dtype)) return Decline{"its types are not known"};
  if (!same_dims(m.root->input(1)->type.dims, i->type.dims)) return Decline{"what wraps the indices adds axes"};
  int64_t axis = builder.view(*m.root).get_int("axis", 0);
  axis += axis < 0 ? std::ssize(*dims) : 0;
  if (axis < 0 || axis >= std::ssize(*dims)) return Decline{"its axis is not valid"};
  const Dim& length = (*dims)[static_cast<size_t>(axis)];
  if (!is_negative(m.value("negative"), i) || !adds_length(m.value("wrapped"), i, length))
    return Decline{"it is not the length of the axis that is added to negative indices"};
  return Replacement{builder.op(m.root->op, {m.value("data"), i}, m.root->attrs, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  Pattern index = Pattern::op("Where", {Pattern::any("negative"), Pattern::any("wrapped"), Pattern::any("i")});
  return {{Pattern::op("Gather|GatherElements", {Pattern::any("data"), std::move(index)}), rewrite}};
}

}  // namespace

const Pass eliminate_index_wrap = {"eliminate_index_wrap", "let Gather itself count negative indices from the end",
                                   rules};

}  // namespace mlopt::graphopt
