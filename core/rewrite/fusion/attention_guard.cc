#include "core/rewrite/fusion/attention_guard.h"

namespace mlopt::fusion {
namespace {

/// ReduceMax over the last axis, which stays.
Value* largest(Value* v, Builder& builder) {
  constexpr int64_t kSince = 18;
  if (!builder.has(kSince)) return builder.op("ReduceMax", {v}, {{"axes", std::vector<int64_t>{-1}, ""}});
  return builder.op("ReduceMax", {v, builder.constant("axes", Tensor::ints({-1}))});
}

Value* without_axis(Value* v, int64_t axis, Builder& builder) {
  if (builder.opset() < 13) return builder.op("Squeeze", {v}, {{"axes", std::vector<int64_t>{axis}, ""}});
  return builder.op("Squeeze", {v, builder.constant("axes", Tensor::ints({axis}))});
}

}  // namespace

Value* zero_where_nan(Value* y, Builder& builder) {
  Value* zero = builder.constant("zero", Tensor::zeros(y->type.dtype, {}));
  return builder.op("Where", {builder.op("IsNaN", {y}), zero, y}, {}, y->type);
}

bool is_for_all_heads(const Choice& kept) {
  const auto& dims = kept.condition->type.dims;
  return dims && dims->size() == 4 && (*dims)[1].is(1);
}

Value* zero_where_hidden(Value* y, const Choice& kept, Builder& builder) {
  Value* seen = kept.seen ? kept.condition : builder.op("Not", {kept.condition});
  seen = builder.op("Cast", {seen}, {{"to", static_cast<int64_t>(y->type.dtype), ""}});
  return builder.op("Mul", {y, without_axis(largest(seen, builder), 1, builder)}, {}, y->type);
}

}  // namespace mlopt::fusion
