// x cos + (-second half of x, first half of x) sin -> RotaryEmbedding, whose tables have each number once: cosines and
// sines are the first rows of tables or computed from positions. The same where each half is made by itself,
// (a cos - b sin, b cos + a sin).
#include <algorithm>

#include "core/rewrite/fusion/attention_site.h"
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/fusion/rope_angles.h"
#include "core/rewrite/fusion/rope_pairs.h"
#include "core/tensor/cast.h"

namespace mlopt::fusion {
namespace {

/// x of (-second half, first half); null for other values.
Value* turned_from(const Value* v, int64_t size, const Builder& builder) {
  const Node* joined = made_by(v, "Concat");
  if (!joined || joined->inputs().size() != 2) return nullptr;
  const Node* negative = made_by(joined->input(0), "Neg");
  const Node* first = joined->input(1)->producer;
  if (!negative || !first || first->inputs().empty()) return nullptr;
  Value* x = first->input(0);
  if (!x || !x->type.dims || x->type.dims->size() != 4 || size % 2 != 0) return nullptr;
  const int64_t axis = builder.view(*joined).get_int("axis", 0);
  if (axis != -1 && axis != 3) return nullptr;
  const bool halves =
      is_part(negative->input(0), x, size / 2, size / 2, builder) && is_part(joined->input(1), x, 0, size / 2, builder);
  return halves ? x : nullptr;
}

/// Is it a constant [1, ..., rows, size] for heads x?
bool is_table(const Value* v, const SymDims& x) {
  const Tensor* table = v->known_constant();
  if (!table || table->rank() < 2 || !is_float(table->dtype())) return false;
  const Dims& dims = table->dims();
  return x[2].is(dims[dims.size() - 2]) && x[3].is(dims.back()) &&
         std::all_of(dims.begin(), dims.end() - 2, [](int64_t d) { return d == 1; });
}

/// The table of which v is the first rows, one for each row of x: Slice of a constant, or a constant of no others.
const Value* table_of(Value* v, const SymDims& x, const Builder& builder) {
  if (is_table(v, x)) return v;
  const Node* slice = v->producer && v->producer->is("Slice") ? v->producer : nullptr;
  const Tensor* table = slice ? slice->input(0)->known_constant() : nullptr;
  const Value* end = slice ? slice->input(2) : nullptr;
  if (!table || table->rank() != 2 || !is_float(table->dtype()) || !x.back().is(table->dim(1))) return nullptr;
  if (!end || !end->symbolic || end->symbolic->size() != 1 || !(end->symbolic->front() == x[2])) return nullptr;
  if (table->dim(0) == 1 && !x[2].is(1)) return nullptr;  // one row is repeated for any number of them
  const NodeView view = builder.view(*slice);
  const std::vector<int64_t> zero{0}, one{1};
  const auto starts = view.ints("starts", 1), axes = view.ints("axes", 3, zero), steps = view.ints("steps", 4, one);
  const bool rows = starts && axes && steps && *starts == zero && *axes == zero && *steps == one;
  return rows ? slice->input(0) : nullptr;
}

/// The left half of the table where the right half is the same.
std::optional<Tensor> half_of(const Tensor& table) {
  const std::vector<double> all = to_doubles(table);
  const auto width = static_cast<size_t>(table.dims().back()), half = width / 2;
  std::vector<double> kept;
  for (size_t row = 0; row * width < all.size(); ++row)
    for (size_t i = 0; i < half; ++i) {
      if (all[row * width + i] != all[row * width + half + i]) return std::nullopt;
      kept.push_back(all[row * width + i]);
    }
  return cast(Tensor::of<double>({table.size() / table.dims().back(), static_cast<int64_t>(half)}, kept),
              table.dtype());
}

/// The graph's constant with the half of a table, made once for all heads that are turned by it.
Value* shared_half(const Value* table, Builder& builder) {
  const std::optional<Tensor> half = half_of(*table->known_constant());
  const std::string name = table->name + "_half";
  Value* made = builder.graph.find(name);
  const Tensor* known = made ? made->known_constant() : nullptr;
  const bool same = known && known->dims() == half->dims() && to_doubles(*known) == to_doubles(*half);
  return same ? made : builder.constant(name, *half);
}

/// Of half the table what v is of the whole one, for each sample of x.
Value* first_rows(Value* half, const Value* v, Value* x, Builder& builder) {
  if (v->known_constant()) return for_each_sample(half, x, builder);
  const Node& slice = *v->producer;
  std::vector<Value*> inputs = slice.inputs();
  inputs[0] = half;
  const Type type = Type::tensor(half->type.dtype, SymDims{(*x->type.dims)[2], half->type.dims->back()});
  return for_each_sample(builder.op("Slice", std::move(inputs), slice.attrs, type), x, builder);
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const auto& dims = m.root->output(0)->type.dims;
  const auto size = dims && dims->size() == 4 ? dims->back().value() : std::nullopt;
  if (!size || m.root->output(0)->type.dtype != DType::kF32) return Decline{"it is not float32 heads of known size"};
  for (const int i : {0, 1})
    for (const int k : {0, 1})
      for (const int n : {0, 1}) {
        const Node *plain = m.root->input(i)->producer, *turned = m.root->input(1 - i)->producer;
        Value* x = turned_from(turned->input(k), *size, builder);
        if (!x || plain->input(n) != x) continue;
        const Value* cosines = table_of(plain->input(1 - n), *x->type.dims, builder);
        const Value* sines = table_of(turned->input(1 - k), *x->type.dims, builder);
        if (!cosines || !sines) return turned_by_angles(x, {plain->input(1 - n), turned->input(1 - k)}, builder);
        if (builder.target == Target::kOnnx ? !builder.has(23) : !takes_contrib_rope(builder))
          return Decline{"RotaryEmbedding needs opset 23"};
        if (!half_of(*cosines->known_constant()) || !half_of(*sines->known_constant()))
          return Decline{"the halves of the tables differ"};
        Value *c = shared_half(cosines, builder), *s = shared_half(sines, builder);
        if (builder.target == Target::kOnnx) {
          c = first_rows(c, plain->input(1 - n), x, builder);
          s = first_rows(s, turned->input(1 - k), x, builder);
          return Replacement{builder.op("RotaryEmbedding", {x, c, s}, {}, m.root->output(0)->type)};
        }
        Value* start = builder.constant("start", Tensor::ints({0}));
        return Replacement{builder.contrib("RotaryEmbedding", {x, start, c, s}, {}, m.root->output(0)->type)};
      }
  return Decline{"not a rotation of halves"};
}

/// The factor beside a where v is a times it; null for other values.
Value* factor_beside(const Value* v, const Value* a) {
  const Node* node = made_by(v, "Mul");
  return !node ? nullptr : node->input(0) == a ? node->input(1) : node->input(1) == a ? node->input(0) : nullptr;
}

/// The whole of which v is a half from `from` on; null for other values.
Value* whole_of_half(const Value* v, int64_t from, int64_t half, const Builder& builder) {
  Value* x = v->producer && !v->producer->inputs().empty() ? v->producer->input(0) : nullptr;
  return x && x->type.dims && x->type.dims->size() == 4 && is_part(v, x, from, half, builder) ? x : nullptr;
}

Expected<Replacement> rewrite_halves(const Match& m, Builder& builder) {
  const Type& type = m.root->output(0)->type;
  const int64_t axis = builder.view(*m.root).get_int("axis", 0);
  const auto size = type.dims && type.dims->size() == 4 ? type.dims->back().value() : std::nullopt;
  if (!size || *size % 2 != 0 || (axis != -1 && axis != 3)) return Decline{};
  const Node *left = m.node("left"), *right = m.node("right");
  for (const Value* a : left->inputs())
    for (const Value* b : right->inputs()) {
      Value* x = whole_of_half(a, 0, *size / 2, builder);
      if (!x || x->type.dims != type.dims || x != whole_of_half(b, *size / 2, *size / 2, builder)) continue;
      Value *cosines = factor_beside(left->output(0), a), *sines = factor_beside(right->output(0), b);
      for (const int n : {0, 1}) {
        const Node* sum = m.node("sum");
        if (factor_beside(sum->input(n), b) != cosines || factor_beside(sum->input(1 - n), a) != sines) continue;
        if (type.dtype != DType::kF32) return Decline{"it is not float32 heads of known size"};
        return turned_by_angles(x, {cosines, sines, false}, builder);
      }
    }
  return Decline{};
}

std::vector<Rule> rules() {
  const auto product = [](const char* a, const char* b) {
    return Pattern::op("Mul", {Pattern::any(a), Pattern::any(b)}).single_use();
  };
  Pattern first = Pattern::op("Sub", {product("a", "b").as("left"), product("c", "d").as("right")}).single_use();
  Pattern second = Pattern::op("Add", {Pattern::any("e"), Pattern::any("f")}).as("sum").single_use();
  return {{Pattern::op("Add", {product("a", "b"), product("c", "d")}), rewrite},
          {Pattern::op("Concat", {std::move(first), std::move(second)}), rewrite_halves}};
}

}  // namespace

const Pass fuse_rope = {"fuse_rope", "the rotation of queries and keys by their position as one operator", rules};

}  // namespace mlopt::fusion
