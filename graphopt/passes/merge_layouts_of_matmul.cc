// Reshapes and Transposes before and behind a product of matrices -> fewer of them, around a product of the same
// matrices whose batch axes are not joined, or in another order, or of both in the other order, transposed.
#include <algorithm>
#include <numeric>

#include "core/rewrite/axis_map.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

using Perm = std::vector<int64_t>;

/// A value and the Reshapes and Transposes that lead from it to an operand, or nothing but the operand.
struct Source {
  Value* value = nullptr;
  std::vector<const Node*> chain;
};

Source source_of(Value* operand, const Graph& graph) {
  if (!operand->single_use() || operand->graph != &graph || !is_layout(operand->producer)) return {operand, {}};
  std::vector<const Node*> chain = layout_chain(operand->producer);
  return {chain.front()->input(0), std::move(chain)};
}

std::optional<AxisMap> through(AxisMap map, const std::vector<const Node*>& chain, const Builder& builder) {
  return map.apply(chain, builder) ? std::optional(map) : std::nullopt;
}

/// [batch..., rows, columns] of a matrix of those batch axes.
SymDims matrix(SymDims batch, const Dim& rows, const Dim& columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

/// With the last two axes exchanged.
bool turn(AxisMap& map) {
  std::vector<int64_t> perm(map.dims().size());
  for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(i);
  std::swap(perm.end()[-1], perm.end()[-2]);
  return map.transpose(perm);
}

/// What is multiplied instead, and the way from the product to the result.
struct Plan {
  AxisMap a, b, y;
  bool turned = false;
  SymDims dims;  ///< of the product
  int64_t cost() const { return a.cost() + b.cost() + y.cost(); }
  bool writable() const { return a.writable() && b.writable() && y.writable(); }
};

/// The product as it is, [batch..., rows, columns], and what leads to and from it.
struct Product {
  Source a, b;
  SymDims joined, batch;  ///< batch axes now, and their parts
  Dim rows, columns;
  Dim inner_a, inner_b;  ///< equal in every run, whether they are known to be or not
  std::vector<const Node*> behind;
};

/// With the batch axes in the order `perm`.
bool order_batch(AxisMap& map, const Perm& perm, bool back = false) {
  Perm all = perm;
  if (back)
    for (size_t i = 0; i < perm.size(); ++i) all[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  for (int i = 0; i < 2; ++i) all.push_back(static_cast<int64_t>(all.size()));
  return map.transpose(all);
}

std::optional<Plan> plan_of(const Product& p, const Perm& order, bool turned, const Builder& builder) {
  auto a = through(AxisMap(*p.a.value->type.dims), p.a.chain, builder),
       b = through(AxisMap(*p.b.value->type.dims), p.b.chain, builder);
  if (!a || !b || !a->reshape(matrix(p.batch, p.rows, p.inner_a)) || !b->reshape(matrix(p.batch, p.inner_b, p.columns)))
    return std::nullopt;
  if (!order_batch(*a, order) || !order_batch(*b, order) || (turned && (!turn(*a) || !turn(*b)))) return std::nullopt;
  SymDims batch;
  for (const int64_t axis : order) batch.push_back(p.batch[static_cast<size_t>(axis)]);
  const SymDims dims = turned ? matrix(batch, p.columns, p.rows) : matrix(batch, p.rows, p.columns);
  AxisMap y(dims);
  if ((turned && !turn(y)) || !order_batch(y, order, true) || !y.reshape(matrix(p.joined, p.rows, p.columns)))
    return std::nullopt;
  const auto end = through(y, p.behind, builder);
  if (!end) return std::nullopt;
  Plan plan = turned ? Plan{*b, *a, *end, true, dims} : Plan{*a, *b, *end, false, dims};
  return plan.writable() ? std::optional(plan) : std::nullopt;
}

/// The one with the fewest operators, the first of them in the order as it is.
std::optional<Plan> best_plan(const Product& p, const Builder& builder) {
  constexpr size_t kMostOrdered = 3;  // batch axes of which every order is tried
  Perm order(p.batch.size());
  std::iota(order.begin(), order.end(), 0);
  std::optional<Plan> best;
  do {
    for (const bool turned : {false, true}) {
      auto plan = plan_of(p, order, turned, builder);
      if (plan && (!best || plan->cost() < best->cost())) best = std::move(plan);
    }
  } while (order.size() <= kMostOrdered && std::next_permutation(order.begin(), order.end()));
  return best;
}

bool all_known(const Value& v) {
  return v.type.dims && std::all_of(v.type.dims->begin(), v.type.dims->end(), [](const Dim& d) { return d.known(); });
}

/// The product before the chain that ends with `root`; nothing where it repeats operands, or one is constant.
std::optional<Product> product_before(const Node& root, const Builder& builder) {
  std::vector<const Node*> behind = layout_chain(&root);
  const Value* y = behind.front()->input(0);
  const Node* node = y && y->single_use() ? y->producer : nullptr;
  if (!node || !node->is("MatMul") || node->graph() != &builder.graph) return std::nullopt;
  for (const Value* v : {static_cast<const Value*>(node->input(0)), static_cast<const Value*>(node->input(1)), y})
    if (!all_known(*v) || v->known_constant() || v->type.dims->size() < 2 ||
        v->type.dims->size() != y->type.dims->size())
      return std::nullopt;
  const SymDims &a = *node->input(0)->type.dims, &b = *node->input(1)->type.dims;
  Product p{source_of(node->input(0), builder.graph),
            source_of(node->input(1), builder.graph),
            {a.begin(), a.end() - 2},
            {},
            a.end()[-2],
            b.back(),
            a.back(),
            b.end()[-2],
            std::move(behind)};
  for (size_t i = 0; i + 2 < a.size(); ++i)
    if (!(a[i] == b[i])) return std::nullopt;
  if (!all_known(*p.a.value) || !all_known(*p.b.value)) return std::nullopt;
  const auto view = through(AxisMap(*y->type.dims), p.behind, builder);
  if (!view) return std::nullopt;
  for (size_t i = 0; i + 2 < a.size(); ++i)
    for (const Dim& part : view->parts_of(i)) p.batch.push_back(part);
  return p;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const auto p = product_before(*m.root, builder);
  if (!p) return Decline{};
  const auto plan = best_plan(*p, builder);
  if (!plan) return Decline{"how the axes are parted is not known"};
  const size_t now = p->a.chain.size() + p->b.chain.size() + p->behind.size();
  if (plan->cost() >= static_cast<int64_t>(now)) return Decline{};
  const Type& type = m.root->output(0)->type;
  const auto operand = [&](const AxisMap& way, Value* source) {
    return way.make(builder, source, Type::tensor(type.dtype, way.dims()));
  };
  Value* a = operand(plan->a, (plan->turned ? p->b : p->a).value);
  Value* b = operand(plan->b, (plan->turned ? p->a : p->b).value);
  Value* y = builder.op("MatMul", {a, b}, {}, Type::tensor(type.dtype, plan->dims));
  return Replacement{plan->y.make(builder, y, type)};
}

/// Transpose of a scaled product -> the Transpose scaled, so that it meets the product, as scores of keys by queries
/// are.
Expected<Replacement> before_number(const Match& m, Builder& builder) {
  Perm perm = builder.view(*m.root).get_ints("perm");
  const Node& scaled = *m.node("scaled");
  Value* product = m.node("product")->output(0);
  if (m.constant("number").rank() != 0 || perm.size() < 2) return Decline{};
  std::swap(perm.end()[-1], perm.end()[-2]);
  if (!std::is_sorted(perm.begin(), perm.end())) return Decline{"it moves other axes than the last two"};
  const Type& type = m.root->output(0)->type;
  Value* turned = builder.op("Transpose", {product}, m.root->attrs, type);
  std::vector<Value*> inputs = scaled.inputs();
  for (Value*& v : inputs)
    if (v == product) v = turned;
  return Replacement{builder.op(scaled.op, std::move(inputs), scaled.attrs, type)};
}

std::vector<Rule> rules() {
  const auto product = [] {
    return Pattern::op("MatMul", {Pattern::any("a"), Pattern::any("b")}).as("product").single_use();
  };
  Pattern times = Pattern::op("Mul", {product(), Pattern::constant("number")}).any_order().as("scaled").single_use();
  Pattern parts = Pattern::op("Div", {product(), Pattern::constant("number")}).as("scaled").single_use();
  return {{Pattern::op("Reshape|Flatten|Squeeze|Unsqueeze|Transpose", {}).open(), rewrite},
          {Pattern::op("Transpose", {std::move(times)}), before_number},
          {Pattern::op("Transpose", {std::move(parts)}), before_number}};
}

}  // namespace

const Pass merge_layouts_of_matmul = {
    "merge_layouts_of_matmul", "replace Reshapes and Transposes around a product of matrices by fewer of them", rules};

}  // namespace mlopt::graphopt
