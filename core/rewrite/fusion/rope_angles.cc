#include "core/rewrite/fusion/rope_angles.h"

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

/// What multiplies the heads without the axis for them; null where its shape is another.
Value* without_heads(Value* v) {
  const auto& out = v->type.dims;
  if (out && out->size() == 2) return v;
  const Node* axis = producer_of(v, "Unsqueeze");
  if (!axis || !out || out->size() != 4 || !(*out)[1].is(1)) return nullptr;
  const auto& in = axis->input(0)->type.dims;
  return in && *in == SymDims{(*out)[0], (*out)[2], (*out)[3]} ? axis->input(0) : nullptr;
}

Half half_of(const Rotation& rotation, Value* v, std::string_view function, const Builder& builder) {
  Value* all = without_heads(v);
  if (!all || !rotation.whole) return {all};
  if (Value* inner = doubled(all, builder)) return producer_of(inner, function) ? Half{inner, true} : Half{};
  const Node* applied = producer_of(all, function);
  Value* angles = applied ? doubled(applied->input(0), builder) : nullptr;
  return angles ? Half{angles, false} : Half{};
}

Value* made(const Half& half, const char* function, Builder& builder) {
  return half.applied ? half.value : builder.op(function, {half.value}, {}, half.value->type);
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
  const Half c = half_of(rotation, rotation.cosines, "Cos", builder),
             s = half_of(rotation, rotation.sines, "Sin", builder);
  const char* not_angles = "cosines and sines are neither the first rows of constant tables nor those of angles";
  if (!c.value || !s.value || !c.value->type.dims || !s.value->type.dims) return Decline{not_angles};
  const SymDims &heads = *x->type.dims, &angles = *c.value->type.dims;
  const Dim &rows = angles[angles.size() - 2], &half = angles.back();
  if (angles != *s.value->type.dims || !(rows == heads[2]) || !(half * 2 == heads[3])) return Decline{not_angles};
  const bool shared = angles.size() == 2 || angles[0].is(1);
  if (!shared && !(angles[0] == heads[0])) return Decline{not_angles};
  if (takes_contrib_rope(builder)) {
    if (builder.opset() < 14) return Decline{"rows are not counted before opset 14"};
    Value *cosines = made(c, "Cos", builder), *sines = made(s, "Sin", builder);
    Value* places = shared ? builder.constant("start", Tensor::ints({0})) : rows_of(c.value, builder);
    if (angles.size() == 3) {
      Value* flat = builder.constant("table_shape", Tensor::ints({-1, *half.value()}));
      const Type table = Type::tensor(x->type.dtype, SymDims{angles[0] * rows, half});
      cosines = builder.op("Reshape", {cosines, flat}, {}, table);
      sines = builder.op("Reshape", {sines, flat}, {}, table);
    }
    return Replacement{builder.contrib("RotaryEmbedding", {x, places, cosines, sines}, {}, x->type)};
  }
  if (builder.target != Target::kOnnx || builder.opset() < 23) return Decline{"RotaryEmbedding needs opset 23"};
  Value *cosines = made(c, "Cos", builder), *sines = made(s, "Sin", builder);
  if (angles.size() == 2 || !(angles[0] == heads[0])) {
    cosines = for_each_sample(cosines, x, builder);
    sines = for_each_sample(sines, x, builder);
  }
  return Replacement{builder.op("RotaryEmbedding", {x, cosines, sines}, {}, x->type)};
}

}  // namespace mlopt::fusion
