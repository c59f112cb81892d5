#include "core/rewrite/fusion/rope_angles.h"

#include "core/rewrite/axis_map.h"

namespace mlopt::fusion {
namespace {

bool is_last(const Node& concat, const Builder& builder, const Value& y) {
  const int64_t axis = builder.view(concat).get_int("axis", 0);
  return axis == -1 || (y.type.dims && axis + 1 == static_cast<int64_t>(y.type.dims->size()));
}

/// a of Concat(a, a) along the last axis.
Value* doubled(const Value* v, const Builder& builder) {
  const Node* node = producer_of(v, "Concat");
  const bool twice = node && node->inputs().size() == 2 && node->input(0) == node->input(1);
  return twice && is_last(*node, builder, *v) ? node->input(0) : nullptr;
}

/// The function of angles [batch or 1, rows, size / 2] or [rows, size / 2], without the axis for the heads and the
/// second half: what it is of where the function is still to be applied.
struct Half {
  Value* value = nullptr;
  bool applied = true;
};

/// What multiplies the heads without the axis `heads` for them; null where its shape is another.
Value* without_heads(Value* v, size_t heads) {
  const auto& out = v->type.dims;
  if (out && out->size() == 2 && heads == 1) return v;
  return out && out->size() == 4 ? before_axis(v, heads) : nullptr;
}

Half half_of(const Rotation& rotation, Value* v, std::string_view function, size_t heads, const Builder& builder) {
  Value* all = without_heads(v, heads);
  if (const Node* applied = all ? nullptr : producer_of(v, function); applied && rotation.whole) {
    Value* angles = without_heads(applied->input(0), heads);
    angles = angles ? doubled(angles, builder) : nullptr;
    return angles ? Half{angles, false} : Half{};
  }
  if (!all || !rotation.whole) return {all};
  if (Value* inner = doubled(all, builder)) return producer_of(inner, function) ? Half{inner, true} : Half{};
  const Node* applied = producer_of(all, function);
  Value* angles = applied ? doubled(applied->input(0), builder) : nullptr;
  return angles ? Half{angles, false} : Half{};
}

Value* made(const Half& half, const char* function, Builder& builder) {
  return half.applied ? half.value : builder.op(function, {half.value}, {}, half.value->type);
}

/// Both tables, and the shape [batch or 1, rows, size / 2] or [rows, size / 2] that they have.
struct Tables {
  Half cosines, sines;
  SymDims dims;
};

std::optional<Tables> tables_of(const SymDims& x, const Rotation& rotation, size_t heads, const Builder& builder) {
  Tables found{half_of(rotation, rotation.cosines, "Cos", heads, builder),
               half_of(rotation, rotation.sines, "Sin", heads, builder),
               {}};
  const Value *c = found.cosines.value, *s = found.sines.value;
  if (!c || !s || !c->type.dims || c->type.dims->size() < 2 || c->type.dims != s->type.dims) return std::nullopt;
  found.dims = *c->type.dims;
  const Dim &rows = found.dims[found.dims.size() - 2], &half = found.dims.back();
  const bool shared = found.dims.size() == 2 || found.dims[0].is(1);
  const bool fits = rows == x[heads == 1 ? 2 : 1] && half * 2 == x[3] && half.value() && x[heads].value();
  return fits && (shared || found.dims[0] == x[0]) ? std::optional(found) : std::nullopt;
}

/// RotaryEmbedding of x with these tables: [batch, rows, heads, size] as the rows that heads are parts of.
Value* turned(Value* x, size_t heads, std::vector<Value*> tables, Builder& builder) {
  const bool contrib = takes_contrib_rope(builder);
  const Type type = x->type;
  std::vector<Attr> attrs;
  if (heads == 2) {
    const int64_t count = *(*type.dims)[2].value(), size = *(*type.dims)[3].value();
    const SymDims rows{(*type.dims)[0], (*type.dims)[1], count * size};
    x = make_reshape(builder, x, {0, 0, count * size}, Type::tensor(type.dtype, rows));
    attrs.push_back({"num_heads", count, ""});
  }
  tables.insert(tables.begin(), x);
  Value* y = contrib ? builder.contrib("RotaryEmbedding", std::move(tables), std::move(attrs), x->type)
                     : builder.op("RotaryEmbedding", std::move(tables), std::move(attrs), x->type);
  return heads == 1 ? y : make_reshape(builder, y, {0, 0, *(*type.dims)[2].value(), *(*type.dims)[3].value()}, type);
}

}  // namespace

Value* for_each_sample(Value* table, Value* x, Builder& builder) {
  const Dim batch = x->type.dims->front();
  Value* shape = nullptr;
  if (const auto count = batch.value()) {
    shape = builder.constant("batch", Tensor::ints({*count, 1, 1}));
  } else {
    Value *zero = builder.constant("zero", Tensor::ints({0})), *ones = builder.constant("ones", Tensor::ints({1, 1}));
    Value* samples = builder.op("Gather", {builder.op("Shape", {x}), zero});
    shape = builder.op("Concat", {samples, ones}, {{"axis", int64_t{0}, ""}});
  }
  const SymDims& dims = *table->type.dims;
  const Type type = Type::tensor(table->type.dtype, SymDims{batch, dims[dims.size() - 2], dims.back()});
  return builder.op("Expand", {table, shape}, {}, type);
}

Value* rows_of(Value* angles, Builder& builder) {
  const auto list = [&](const char* name, int64_t x) { return builder.constant(name, Tensor::ints({x})); };
  const auto number = [&](const char* name, int64_t x) { return builder.constant(name, Tensor::scalar<int64_t>(x)); };
  Value* shape = builder.op("Slice", {builder.op("Shape", {angles}), list("from", 0), list("to", 2)});
  Value* count = builder.op("ReduceProd", {shape}, {{"keepdims", int64_t{0}, ""}});
  Value* all = builder.op("Range", {number("first", 0), count, number("step", 1)});
  return builder.op("Reshape", {all, shape}, {{"allowzero", int64_t{1}, ""}});
}

bool takes_contrib_rope(const Builder& builder) {
  return builder.target == Target::kOrt || builder.target == Target::kKernels;
}

Expected<Replacement> turned_by_angles(Value* x, const Rotation& rotation, Builder& builder) {
  const SymDims& dims = *x->type.dims;
  size_t heads = 1;
  auto tables = tables_of(dims, rotation, heads, builder);
  if (!tables) tables = tables_of(dims, rotation, heads = 2, builder);
  if (!tables) return Decline{"cosines and sines are neither the first rows of constant tables nor those of angles"};
  const SymDims& angles = tables->dims;
  const Dim &rows = angles[angles.size() - 2], &half = angles.back();
  const bool shared = angles.size() == 2 || angles[0].is(1);
  const bool contrib = takes_contrib_rope(builder);
  if (contrib && builder.opset() < 14) return Decline{"rows are not counted before opset 14"};
  if (!contrib && (builder.target != Target::kOnnx || builder.opset() < 23))
    return Decline{"RotaryEmbedding needs opset 23"};
  Value *cosines = made(tables->cosines, "Cos", builder), *sines = made(tables->sines, "Sin", builder);
  if (!contrib) {
    for (Value** table : {&cosines, &sines})
      if (angles.size() == 2 || !(angles[0] == dims[0])) *table = for_each_sample(*table, x, builder);
    return Replacement{turned(x, heads, {cosines, sines}, builder)};
  }
  Value* places = shared ? builder.constant("start", Tensor::ints({0})) : rows_of(tables->cosines.value, builder);
  if (angles.size() == 3) {
    const Type table = Type::tensor(x->type.dtype, SymDims{angles[0] * rows, half});
    for (Value** one : {&cosines, &sines}) *one = make_reshape(builder, *one, {-1, *half.value()}, table);
  }
  return Replacement{turned(x, heads, {places, cosines, sines}, builder)};
}

}  // namespace mlopt::fusion
