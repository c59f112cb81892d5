#include "core/rewrite/fusion/lengths.h"

#include <algorithm>

namespace mlopt::fusion {
namespace {

std::optional<int64_t> axis_of(const SymDims& dims, const Dim& wanted) {
  const auto found = std::find(dims.begin(), dims.end(), wanted);
  return found == dims.end() ? std::nullopt : std::optional<int64_t>(found - dims.begin());
}

}  // namespace

std::optional<Lengths> lengths_of(const Value& x, Builder& builder) {
  if (!x.type.dims || x.type.dims->size() < 2 || builder.opset() < 13) return std::nullopt;
  for (Value* input : builder.graph.inputs()) {
    if (!input->type.dims) continue;
    const auto batch = axis_of(*input->type.dims, (*x.type.dims)[0]),
               rows = axis_of(*input->type.dims, (*x.type.dims)[1]);
    if (!batch || !rows || *batch == *rows) continue;
    const std::vector<Attr> to_int32{{"to", static_cast<int64_t>(DType::kI32), ""}};
    Value* shape = builder.op("Shape", {input});
    Value* count = builder.op("Gather", {shape, builder.constant("rows", Tensor::scalar<int64_t>(*rows))});
    Value* total = builder.op("Cast", {count}, to_int32);
    Value* last = builder.op("Sub", {total, builder.constant("one", Tensor::scalar<int32_t>(1))});
    Value* samples = builder.op("Gather", {shape, builder.constant("batch", Tensor::ints({*batch}))});
    return Lengths{builder.op("Expand", {last, samples}), total};
  }
  return std::nullopt;
}

}  // namespace mlopt::fusion
