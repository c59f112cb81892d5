#include "core/rewrite/fusion/lengths.h"

#include <algorithm>

namespace mlopt::fusion {
namespace {

std::optional<int64_t> axis_of(const SymDims& dims, const Dim& wanted) {
  const auto found = std::find(dims.begin(), dims.end(), wanted);
  return found == dims.end() ? std::nullopt : std::optional<int64_t>(found - dims.begin());
}

}  // namespace

std::optional<Lengths> lengths_of(const Dim& batch, const Dim& rows, Builder& builder) {
  if (builder.opset() < 13) return std::nullopt;
  for (Value* input : builder.graph.inputs()) {
    if (!input->type.dims) continue;
    const auto batch_axis = axis_of(*input->type.dims, batch), row_axis = axis_of(*input->type.dims, rows);
    if (!batch_axis || !row_axis || *batch_axis == *row_axis) continue;
    const std::vector<Attr> to_int32{{"to", static_cast<int64_t>(DType::kI32), ""}};
    Value* shape = builder.op("Shape", {input});
    Value* count = builder.op("Gather", {shape, builder.constant("rows", Tensor::scalar<int64_t>(*row_axis))});
    Value* total = builder.op("Cast", {count}, to_int32);
    Value* last = builder.op("Sub", {total, builder.constant("one", Tensor::scalar<int32_t>(1))});
    Value* samples = builder.op("Gather", {shape, builder.constant("batch", Tensor::ints({*batch_axis}))});
    return Lengths{builder.op("Expand", {last, samples}), total};
  }
  return std::nullopt;
}

Value* row_shape(const Dim& rows, Builder& builder) {
  if (const auto count = rows.value()) return builder.constant("rows", Tensor::ints({1, 1, *count, 1}));
  for (Value* input : builder.graph.inputs()) {
    if (!input->type.dims) continue;
    const auto axis = std::find(input->type.dims->begin(), input->type.dims->end(), rows);
    if (axis == input->type.dims->end()) continue;
    Value* at = builder.constant("axis", Tensor::ints({axis - input->type.dims->begin()}));
    Value* one = builder.constant("one", Tensor::ints({1}));
    Value* count = builder.op("Gather", {builder.op("Shape", {input}), at});
    return builder.op("Concat", {one, one, count, one}, {{"axis", int64_t{0}, ""}});
  }
  return nullptr;
}

}  // namespace mlopt::fusion
