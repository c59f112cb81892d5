// Neighbours (a, b) of a row -> (a cos - b sin, a sin + b cos), spelt so, or as x cos + (-b, a) sin with each cosine
// and sine twice -> RotaryEmbedding, interleaved.
#include "core/rewrite/axis_map.h"
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/fusion/rope_angles.h"
#include "core/rewrite/fusion/rope_pairs.h"
#include "core/tensor/cast.h"

namespace mlopt::fusion {
namespace {

/// What is turned by what.
struct Turn {
  Pairs pairs;
  Value *cosines = nullptr, *sines = nullptr;
  bool doubled = false;  ///< whether these come twice
};

const Node* product(const Value* v) {
  return v && v->producer && v->producer->is("Mul") && v->single_use() ? v->producer : nullptr;
}

/// Is it a times b?
bool is_product_of(const Value* v, const Value* a, const Value* b) {
  const Node* node = product(v);
  return node && ((node->input(0) == a && node->input(1) == b) || (node->input(0) == b && node->input(1) == a));
}

/// The turn that gives first = a cos - b sin and second = a sin + b cos.
std::optional<Turn> turn_of(const Value* first, const Value* second, const Builder& builder) {
  const Node *difference = first->producer, *sum = second->producer;
  if (!difference || !sum || !difference->is("Sub") || !sum->is("Add")) return std::nullopt;
  const Node *left = product(difference->input(0)), *right = product(difference->input(1));
  if (!left || !right) return std::nullopt;
  for (const int i : {0, 1})
    for (const int k : {0, 1}) {
      const Value *a = left->input(i), *b = right->input(k);
      Value *cosines = left->input(1 - i), *sines = right->input(1 - k);
      const auto pairs = pairs_of(a, b, builder);
      if (!pairs) continue;
      for (const int n : {0, 1})
        if (is_product_of(sum->input(n), a, sines) && is_product_of(sum->input(1 - n), b, cosines))
          return Turn{*pairs, cosines, sines};
    }
  return std::nullopt;
}

/// x where v is (-b, a) for each of its pairs (a, b).
std::optional<Pairs> turned_pairs(const Value* v, const Value* x, const Builder& builder) {
  const Node* joined = v->producer && v->single_use() && is_layout(v->producer) ? v->producer : nullptr;
  if (!joined || joined->is("Transpose") || !v->type.dims || v->type.dims != x->type.dims) return std::nullopt;
  const auto [negative, even] = stacked(joined->input(0), builder);
  if (!negative || !negative->producer || !negative->producer->is("Neg")) return std::nullopt;
  auto pairs = pairs_of(even, negative->producer->input(0), builder);
  const Node* parted = pairs ? pairs->x->producer : nullptr;
  const bool same = pairs && (pairs->x == x || (parted && parted->is("Reshape") && parted->input(0) == x));
  return same ? pairs : std::nullopt;
}

/// Where rows and heads are, and whether all samples are turned alike.
struct Places {
  bool inside = false;  ///< [batch, rows, heads, size], else [batch, heads, rows, size]
  bool shared = false;
};

std::optional<Places> places_of(const std::optional<SymDims>& table, const SymDims& heads, bool doubled) {
  if (!table || table->size() > 4) return std::nullopt;
  SymDims d(4 - table->size(), Dim(1));
  d.insert(d.end(), table->begin(), table->end());
  const bool fits = doubled ? d[3] == heads[3] : d[3] * 2 == heads[3];
  if (!fits || (!d[0].is(1) && !(d[0] == heads[0]))) return std::nullopt;
  const bool shared = d[0].is(1);
  if (d[1].is(1) && d[2] == heads[2]) return Places{false, shared};
  if (d[2].is(1) && d[1] == heads[1]) return Places{true, shared};
  return std::nullopt;
}

/// Every second number of a table's rows, where the others are the same.
std::optional<Tensor> every_second(const Tensor& table) {
  const std::vector<double> numbers = to_doubles(table);
  std::vector<double> kept;
  for (size_t i = 0; i + 1 < numbers.size(); i += 2) {
    if (numbers[i] != numbers[i + 1]) return std::nullopt;
    kept.push_back(numbers[i]);
  }
  const int64_t half = table.dims().back() / 2;
  return cast(Tensor::of<double>({static_cast<int64_t>(kept.size()) / half, half}, kept), table.dtype());
}

/// What the tables are for.
struct Rows {
  Dim batch, rows;
  int64_t half = 0;     ///< numbers for each
  bool shared = false;  ///< among the samples
};

/// RotaryEmbedding's tables, and which of their rows are taken; null: one after the other, for each sample its own.
/// Numbers of rows that the graph has may count from the end, which the operator's do not.
struct Operands {
  Value *cosines = nullptr, *sines = nullptr, *ids = nullptr;
};

/// Is it a constant with one number for each pair?
bool has_rows(const PairTable& t, const Rows& rows) {
  if (!t.table || t.table->known_constant()->dims().back() != (t.doubled ? 2 : 1) * rows.half) return false;
  return !t.doubled || every_second(*t.table->known_constant());
}

/// The constant with one number for each pair, made once for all that read the table.
Value* halved(const PairTable& t, Builder& builder) {
  if (!t.doubled) return t.table;
  const Tensor half = *every_second(*t.table->known_constant());
  const std::string name = t.table->name + "_pairs";
  Value* made = builder.graph.find(name);
  const Tensor* known = made ? made->known_constant() : nullptr;
  const bool same = known && known->dims() == half.dims() && to_doubles(*known) == to_doubles(half);
  return same ? made : builder.constant(name, half);
}

/// The numbers as a value [batch or 1, rows, size / 2]; null where that shape cannot be written.
Value* numbers_of(const PairTable& t, const Rows& rows, Builder& builder) {
  Value* v = t.numbers;
  if (!v && !t.ids) v = halved(t, builder);
  if (!v) {
    SymDims dims = *t.ids->type.dims;
    dims.push_back(rows.half);
    v = builder.op("Gather", {halved(t, builder), t.ids}, {{"axis", int64_t{0}, ""}},
                   Type::tensor(t.table->type.dtype, dims));
  }
  if (!t.function.empty()) v = builder.op(t.function, {v}, {}, v->type);
  const SymDims wanted{rows.shared ? Dim(1) : rows.batch, rows.rows, rows.half};
  if (!v || v->type.dims == wanted) return v;
  const auto target = reshape_target(v->type.dims, wanted);
  return target ? make_reshape(builder, v, *target, Type::tensor(v->type.dtype, wanted)) : nullptr;
}

Expected<Operands> operands_of(const Turn& turn, const Rows& rows, Builder& builder) {
  const PairTable c = table_of(turn.cosines, turn.doubled, builder), s = table_of(turn.sines, turn.doubled, builder);
  for (const PairTable* t : {&c, &s})
    if (!t->numbers && (!has_rows(*t, rows) || (t->ids && !t->ids->type.dims)))
      return Decline{"the cosines or sines of a pair may differ"};
  if (builder.target == Target::kOrt && !rows.shared && builder.opset() < 14)
    return Decline{"rows are not counted before opset 14"};
  Operands found{numbers_of(c, rows, builder), numbers_of(s, rows, builder)};
  if (!found.cosines || !found.sines) return Decline{"shapes are not known"};
  if (builder.target == Target::kOrt) {
    found.ids = rows.shared ? builder.constant("start", Tensor::ints({0})) : rows_of(found.cosines, builder);
    for (Value** table : {&found.cosines, &found.sines}) {
      const Type type =
          Type::tensor((*table)->type.dtype, SymDims{rows.shared ? rows.rows : rows.batch * rows.rows, rows.half});
      *table = make_reshape(builder, *table, {-1, rows.half}, type);
    }
  } else if (rows.shared && !rows.batch.is(1)) {
    found.cosines = for_each_sample(found.cosines, turn.pairs.x, builder);
    found.sines = for_each_sample(found.sines, turn.pairs.x, builder);
  }
  return found;
}

Value* shaped(Value* v, const SymDims& dims, Builder& builder) {
  if (v->type.dims == dims) return v;
  const auto target = reshape_target(v->type.dims, dims);
  return target ? make_reshape(builder, v, *target, Type::tensor(v->type.dtype, dims)) : nullptr;
}

const char* no_rope(const Value& x, const Builder& builder) {
  if (builder.target == Target::kOpenvino || builder.target == Target::kTensorrt)
    return "the target does not run RotaryEmbedding";
  if (builder.target == Target::kOnnx) {
    const bool type = x.type.dtype == DType::kF32 || x.type.dtype == DType::kF16 || x.type.dtype == DType::kBF16;
    return !type ? "RotaryEmbedding has no such type" : builder.has(23) ? nullptr : "RotaryEmbedding needs opset 23";
  }
  return x.type.dtype == DType::kF32 ? nullptr : "it is not float32";
}

Expected<Replacement> write(const Turn& turn, const Type& type, Builder& builder) {
  const SymDims& heads = turn.pairs.heads;
  const auto table = table_dims(turn.cosines, builder);
  const auto places = places_of(table, heads, turn.doubled);
  const auto size = heads[3].value(), count = heads[places && places->inside ? 2 : 1].value();
  if (!places || table != table_dims(turn.sines, builder) || !size || !count)
    return Decline{"cosines and sines are not those of rows"};
  if (const char* why = no_rope(*turn.pairs.x, builder)) return Decline{why};
  if (!type.dims || turn.cosines->type.dtype != type.dtype) return Decline{"shapes are not known"};
  const Rows rows{heads[0], heads[places->inside ? 1 : 2], *size / 2, places->shared};
  const SymDims wanted = places->inside ? SymDims{rows.batch, rows.rows, Dim(*count * *size)} : heads;
  if (!reshape_target(turn.pairs.x->type.dims, wanted) || !reshape_target(wanted, type.dims))
    return Decline{"shapes are not known"};
  const auto operands = operands_of(turn, rows, builder);
  if (!operands) return operands.error();
  Value* x = shaped(turn.pairs.x, wanted, builder);
  std::vector<Attr> attrs{{"interleaved", int64_t{1}, ""}};
  if (places->inside) attrs.push_back({"num_heads", *count, ""});
  const Type made = Type::tensor(type.dtype, wanted);
  Value* y = nullptr;
  if (builder.target == Target::kOrt) {
    y = builder.contrib("RotaryEmbedding", {x, operands->ids, operands->cosines, operands->sines}, attrs, made);
  } else {
    y = builder.op("RotaryEmbedding", {x, operands->cosines, operands->sines}, attrs, made);
  }
  return Replacement{shaped(y, *type.dims, builder)};
}

Expected<Replacement> rewrite_sum(const Match& m, Builder& builder) {
  for (const int i : {0, 1})
    for (const int k : {0, 1})
      for (const int n : {0, 1}) {
        const Node *plain = m.root->input(i)->producer, *turned = m.root->input(1 - i)->producer;
        const auto pairs = turned_pairs(turned->input(k), plain->input(n), builder);
        if (!pairs) continue;
        return write({*pairs, plain->input(1 - n), turned->input(1 - k), true}, m.root->output(0)->type, builder);
      }
  return Decline{};
}

Expected<Replacement> rewrite_pairs(const Match& m, Builder& builder) {
  const auto [first, second] = stacked(m.value("pairs"), builder);
  if (!first) return Decline{};
  const auto turn = turn_of(first, second, builder);
  if (!turn) return Decline{"not a rotation of neighbours"};
  return write(*turn, m.root->output(0)->type, builder);
}

std::vector<Rule> rules() {
  const auto product = [](const char* a, const char* b) {
    return Pattern::op("Mul", {Pattern::any(a), Pattern::any(b)}).single_use();
  };
  return {{Pattern::op("Add", {product("a", "b"), product("c", "d")}), rewrite_sum},
          {Pattern::op("Reshape", {Pattern::any("pairs")}).open(), rewrite_pairs},
          {Pattern::op("Flatten", {Pattern::any("pairs")}), rewrite_pairs}};
}

}  // namespace

const Pass fuse_rope_interleaved = {"fuse_rope_interleaved",
                                    "the rotation of neighbours by their position (GPT-J's) as one operator", rules};

}  // namespace mlopt::fusion
