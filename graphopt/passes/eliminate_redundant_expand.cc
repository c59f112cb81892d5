// op(Expand(x), y) -> op(x, y) where y, or x itself, broadcasts as far.
#include <algorithm>

#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

/// The shape of an operator over both; unknown axes where it is not proven.
SymDims broadcast(SymDims a, SymDims b) {
  if (a.size() < b.size()) std::swap(a, b);
  for (size_t i = 0; i < b.size(); ++i) {
    Dim& d = a[a.size() - b.size() + i];
    if (d.is(1))
      d = b[i];
    else if (!b[i].is(1) && !(d == b[i]))
      d = Dim();
  }
  return a;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const auto is_expand = [&](const Value* v) {
    return v && v->producer && v->producer->is("Expand") && v->graph == m.root->graph();
  };
  std::vector<Value*> inputs = m.root->inputs();
  if (std::none_of(inputs.begin(), inputs.end(), is_expand)) return Decline{};
  if (builder.opset() < 7) return Decline{"its opset broadcasts in another way"};
  for (Value*& v : inputs) {
    if (!is_expand(v)) continue;
    Value* expanded = v;
    v = v->producer->input(0);
    std::optional<SymDims> shape = SymDims{};
    for (const Value* operand : inputs)
      shape =
          shape && operand && operand->type.dims ? std::optional(broadcast(*shape, *operand->type.dims)) : std::nullopt;
    if (same_dims(shape, m.root->output(0)->type.dims))
      return Replacement{builder.op(m.root->op, std::move(inputs), m.root->attrs, m.root->output(0)->type)};
    v = expanded;
  }
  return Decline{"no operand is expanded as far as the others do"};
}

/// The axes before the matrices of a product.
std::optional<SymDims> samples_of(const Value* v) {
  const auto& dims = v->type.dims;
  return dims && dims->size() >= 2 ? std::optional(SymDims(dims->begin(), dims->end() - 2)) : std::nullopt;
}

/// MatMul repeats matrices as other operators repeat numbers.
Expected<Replacement> rewrite_matmul(const Match& m, Builder& builder) {
  for (const int i : {0, 1}) {
    const Value *wide = m.root->input(i), *other = m.root->input(1 - i);
    if (!wide->producer || !wide->producer->is("Expand") || wide->graph != m.root->graph()) continue;
    Value* x = wide->producer->input(0);
    const auto narrow = samples_of(x), beside = samples_of(other), out = samples_of(m.root->output(0));
    const bool matrices = narrow && wide->type.dims && wide->type.dims->size() >= 2 &&
                          std::equal(x->type.dims->end() - 2, x->type.dims->end(), wide->type.dims->end() - 2);
    if (!matrices || !beside || !out || !same_dims(broadcast(*narrow, *beside), out)) continue;
    std::vector<Value*> inputs = m.root->inputs();
    inputs[static_cast<size_t>(i)] = x;
    return Replacement{builder.op("MatMul", std::move(inputs), {}, m.root->output(0)->type)};
  }
  return Decline{};
}

std::vector<Rule> rules() {
  return {{Pattern::op("Add|Sub|Mul|Div|Pow|Equal|Less|Greater|LessOrEqual|GreaterOrEqual|And|Or|Xor|Where|Min|Max",
                       {Pattern::any(""), Pattern::any("")})
               .open(),
           rewrite},
          {Pattern::op("MatMul", {Pattern::any("a"), Pattern::any("b")}), rewrite_matmul}};
}

}  // namespace

const Pass eliminate_redundant_expand = {"eliminate_redundant_expand",
                                         "remove Expand before operators that broadcast as far", rules};

}  // namespace mlopt::graphopt
