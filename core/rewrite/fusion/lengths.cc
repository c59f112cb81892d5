#include "core/rewrite/fusion/lengths.h"

#include <algorithm>
#include <numeric>

namespace mlopt::fusion {
namespace {

std::optional<int64_t> axis_of(const SymDims& dims, const Dim& wanted) {
  const auto found = std::find(dims.begin(), dims.end(), wanted);
  return found == dims.end() ? std::nullopt : std::optional<int64_t>(found - dims.begin());
}

/// An input of the graph, the axis of it that was looked for, and the second one.
struct Input {
  Value* value = nullptr;
  int64_t axis = 0, second = 0;
};

/// The first input that has both axes, the second one behind the first, or only one where the other is not known.
Input input_with(const Dim& wanted, const Dim& second, const Graph& graph) {
  for (Value* input : graph.inputs()) {
    if (!input->type.dims) continue;
    const SymDims& dims = *input->type.dims;
    const auto axis = axis_of(dims, wanted);
    if (!axis || !second.known()) {
      if (axis) return {input, *axis, 0};
      continue;
    }
    const auto next = std::find(dims.begin() + *axis + 1, dims.end(), second);
    if (next != dims.end()) return {input, *axis, next - dims.begin()};
  }
  return {};
}

}  // namespace

std::optional<Lengths> lengths_of(const Dim& batch, const Dim& rows, const Value* past, Builder& builder) {
  if (builder.opset() < 13) return std::nullopt;
  const auto list = [&](const char* name, int64_t x) { return builder.constant(name, Tensor::ints({x})); };
  const Input samples = input_with(batch, past ? (*past->type.dims)[2] : rows, builder.graph);
  const Input now = past ? input_with(rows, {}, builder.graph) : samples;
  if (!samples.value || (!now.value && !rows.value())) return std::nullopt;
  Value* shape = builder.op("Shape", {samples.value});
  Value* count = rows.value() ? nullptr : shape;
  if (count && past) count = builder.op("Shape", {now.value});
  const auto number = [&](const char* name, int64_t x) { return builder.constant(name, Tensor::scalar<int64_t>(x)); };
  count = count ? builder.op("Gather", {count, number("rows", past ? now.axis : samples.second)})
                : number("count", *rows.value());
  if (past) count = builder.op("Add", {builder.op("Gather", {shape, number("past", samples.second)}), count});
  Value* total = builder.op("Cast", {count}, {{"to", static_cast<int64_t>(DType::kI32), ""}});
  Value* last = builder.op("Sub", {total, builder.constant("one", Tensor::scalar<int32_t>(1))});
  Value* each = builder.op("Gather", {shape, list("batch", samples.axis)});
  return Lengths{builder.op("Expand", {last, each}), total};
}

Value* shape_with(const Dim& length, size_t axis, size_t rank, Builder& builder, Value* near) {
  std::vector<int64_t> all(rank, 1);
  if (const auto count = length.value()) {
    all[axis] = *count;
    return builder.constant("rows", Tensor::ints(all));
  }
  std::vector<Value*> known = builder.graph.inputs();
  if (near) known.push_back(near);
  for (Value* input : known) {
    const auto found = input->type.dims ? axis_of(*input->type.dims, length) : std::nullopt;
    if (!found) continue;
    const auto ones = [&](size_t n) { return builder.constant("ones", Tensor::ints(std::vector<int64_t>(n, 1))); };
    std::vector<Value*> parts;
    if (axis > 0) parts.push_back(ones(axis));
    parts.push_back(
        builder.op("Gather", {builder.op("Shape", {input}), builder.constant("axis", Tensor::ints({*found}))}));
    if (axis + 1 < rank) parts.push_back(ones(rank - axis - 1));
    return builder.op("Concat", std::move(parts), {{"axis", int64_t{0}, ""}});
  }
  return nullptr;
}

Value* leading_sizes(Value* v, int64_t axes, Builder& builder) {
  constexpr int64_t kSince = 15;
  if (builder.has(kSince)) return builder.op("Shape", {v}, {{"end", axes, ""}});
  std::vector<int64_t> places(static_cast<size_t>(axes));
  std::iota(places.begin(), places.end(), 0);
  return builder.op("Gather", {builder.op("Shape", {v}), builder.constant("axes", Tensor::ints(places))});
}

Value* row_shape(const Dim& rows, Builder& builder, Value* near) { return shape_with(rows, 2, 4, builder, near); }

}  // namespace mlopt::fusion
