#include "core/rewrite/fusion/present_shape.h"

#include <algorithm>

#include "core/tensor/cast.h"

namespace mlopt::fusion {
namespace {

constexpr int64_t kRows = 2;  ///< of [batch, heads, rows, size]

/// Keys or values [batch, heads, rows, size] behind those of the past, which more is read of than the shape.
bool is_present(const Node& concat, const Builder& builder) {
  const Value* all = concat.output(0);
  const int64_t axis = builder.view(concat).get_int("axis", 0);
  const bool shapes = std::all_of(all->uses.begin(), all->uses.end(), [](const Use& u) { return u.node->is("Shape"); });
  return all->type.dims && all->type.dims->size() == 4 && (axis == kRows || axis == kRows - 4) && !shapes;
}

const char* no_use(const Node& concat, const Builder& builder) {
  if (builder.opset() < 13 || (builder.target != Target::kOrt && !builder.has(23)))
    return "attention takes no past here";
  return is_present(concat, builder) ? nullptr : "not the keys or values of attention";
}

bool indexed(const Use& use) {
  return use.node->is("Gather") && use.index == 0 && use.node->input(1)->known_constant() &&
         use.node->input(1)->known_constant()->size() == 1;
}

/// One element of the shape.
Expected<Replacement> element(const Match& m, Builder& builder) {
  if (const char* why = no_use(*m.node("all"), builder)) return Decline{why};
  const Tensor& index = m.constant("index");
  if (index.size() != 1 || !m.node("shape")->attrs.empty()) return Decline{"more than one element is taken"};
  const int64_t given = to_ints(index)[0], at = given < 0 ? given + 4 : given;
  const auto of = [&](const char* part) {
    return builder.op("Gather", {builder.op("Shape", {m.value(part)}), m.value("index")}, m.root->attrs);
  };
  Value* past = of("past");
  return Replacement{at == kRows ? builder.op("Add", {past, of("made")}) : past};
}

/// All of it, or a part.
Expected<Replacement> whole(const Match& m, Builder& builder) {
  if (const char* why = no_use(*m.node("all"), builder)) return Decline{why};
  const auto& uses = m.root->output(0)->uses;
  if (!m.root->output(0)->is_output() && std::all_of(uses.begin(), uses.end(), indexed))
    return Decline{"its elements are taken one by one"};
  const NodeView view = builder.view(*m.root);
  const auto clamped = [](int64_t x) { return std::clamp<int64_t>(x < 0 ? x + 4 : x, 0, 4); };
  const int64_t from = clamped(view.get_int("start", 0)), to = clamped(view.get_int("end", 4));
  Value* past = builder.op("Shape", {m.value("past")}, m.root->attrs);
  if (kRows < from || kRows >= to) return Replacement{past};
  Value* made = builder.op("Shape", {m.value("made")}, m.root->attrs);
  if (to - from == 1) return Replacement{builder.op("Add", {past, made})};
  std::vector<int64_t> rows(static_cast<size_t>(to - from), 0);
  rows[static_cast<size_t>(kRows - from)] = 1;
  return Replacement{
      builder.op("Add", {past, builder.op("Mul", {made, builder.constant("rows", Tensor::ints(rows))})})};
}

}  // namespace

std::vector<Rule> present_shape_rules() {
  const auto all = [] { return Pattern::op("Concat", {Pattern::any("past"), Pattern::any("made")}).as("all"); };
  return {{Pattern::op("Gather", {Pattern::op("Shape", {all()}).as("shape"), Pattern::constant("index")}), element},
          {Pattern::op("Shape", {all()}), whole}};
}

}  // namespace mlopt::fusion
