// Operators whose results are as many as the data say -> mlopt's, which make as many as there can be, and count them,
// and mlopt.FirstRows(all, count), which takes so many along `axis`: the only one left whose shape is not known before
// it runs, where a plan can be cut (backends/gpu/staged.h).
#include <unordered_set>

#include "core/rewrite/lower/passes.h"

namespace mlopt::lower {
namespace {

/// Is the value a function of constants and shapes alone? Then it is known when a plan is made.
bool is_known(const Value* value) {
  std::vector<const Value*> open{value};
  std::unordered_set<const Value*> seen;
  while (!open.empty()) {
    const Value* v = open.back();
    open.pop_back();
    if (!v || v->known_constant() || !seen.insert(v).second) continue;
    if (!v->producer || !v->producer->bodies().empty()) return false;
    if (v->producer->is("Shape") || v->producer->is("Size")) continue;
    open.insert(open.end(), v->producer->inputs().begin(), v->producer->inputs().end());
  }
  return true;
}

constexpr const char* kKnown = "it follows from shapes";

/// The outputs of an operator of ours in the place of the root.
const Node* counted(const Match& m, Builder& builder, const char* op, int outputs) {
  const Node* node = builder.node(op, m.root->inputs(), m.root->attrs, m.root->output(0)->name, outputs, "mlopt");
  for (Value* v : node->outputs()) v->type = Type::tensor(DType::kI64);
  return node;
}

Value* first_rows(Builder& builder, Value* all, Value* count, int64_t axis, SymDims dims) {
  Value* rows = builder.node("FirstRows", {all, count}, {{"axis", axis, ""}}, all->name, 1, "mlopt")->output(0);
  rows->type = Type::tensor(DType::kI64, std::move(dims));
  return rows;
}

Expected<Replacement> non_zero(const Match& m, Builder& builder) {
  const auto& x = m.value("x")->type.dims;
  if (is_known(m.value("x"))) return Decline{kKnown};
  if (!x) return Decline{"its rank is not known"};
  const Node* places = counted(m, builder, "CountedNonZero", 2);
  const Dim rank(static_cast<int64_t>(x->size()));
  return Replacement{first_rows(builder, places->output(0), places->output(1), 1, {rank, Dim()})};
}

Expected<Replacement> suppression(const Match& m, Builder& builder) {
  if (is_known(m.root->input(0)) && is_known(m.root->input(1))) return Decline{kKnown};
  const Node* kept = counted(m, builder, "CountedSuppression", 2);
  return Replacement{first_rows(builder, kept->output(0), kept->output(1), 0, {Dim(), Dim(3)})};
}

/// The elements at places along an axis, or of all counted one by one.
Value* taken(Builder& builder, Value* x, Value* places, std::optional<int64_t> axis, Type type) {
  if (!axis)
    x = builder.op("Reshape", {x, builder.constant("flat", Tensor::ints({-1}))}, {}, Type::tensor(x->type.dtype));
  return builder.op("Gather", {x, places}, {{"axis", axis.value_or(0), ""}}, std::move(type));
}

std::optional<int64_t> axis_of(const NodeView& view) {
  return view.has("axis") ? std::optional(view.get_int("axis")) : std::nullopt;
}

Expected<Replacement> unique(const Match& m, Builder& builder) {
  if (is_known(m.value("x"))) return Decline{kKnown};
  const Node* groups = counted(m, builder, "CountedUnique", 4);  // first members, group of each, sizes, how many
  const auto wants = [&](int i) { return m.root->output(i) != nullptr; };
  Value *count = groups->output(3), *first = first_rows(builder, groups->output(0), count, 0, {Dim()});
  Replacement made{taken(builder, m.value("x"), first, axis_of(builder.view(*m.root)), m.root->output(0)->type)};
  made.push_back(wants(1) ? builder.op("Identity", {first}, {}, first->type) : nullptr);
  made.push_back(wants(2) ? groups->output(1) : nullptr);
  made.push_back(wants(3) ? first_rows(builder, groups->output(2), count, 0, {Dim()}) : nullptr);
  made.resize(m.root->outputs().size());
  return made;
}

Expected<Replacement> compress(const Match& m, Builder& builder) {
  Value* condition = m.root->input(1);
  if (is_known(condition)) return Decline{kKnown};
  const Node* places = builder.node("CountedNonZero", {condition}, {}, condition->name, 2, "mlopt");
  for (Value* v : places->outputs()) v->type = Type::tensor(DType::kI64);
  Value* rows = first_rows(builder, places->output(0), places->output(1), 1, {Dim(1), Dim()});
  Value* list = builder.op("Reshape", {rows, builder.constant("flat", Tensor::ints({-1}))}, {},
                           Type::tensor(DType::kI64, SymDims{Dim()}));
  return Replacement{taken(builder, m.root->input(0), list, axis_of(builder.view(*m.root)), m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("NonZero", {Pattern::any("x")}), non_zero},
          {Pattern::op("NonMaxSuppression", {}).open(), suppression},
          {Pattern::op("Unique", {Pattern::any("x")}), unique},
          {Pattern::op("Compress", {}).open(), compress}};
}

}  // namespace

const Pass counted = {"counted", "results that are counted apart from those that there can be", rules};

}  // namespace mlopt::lower
