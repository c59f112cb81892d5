#include "quantize/emit/weights.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>

#include "core/tensor/cast.h"

namespace mlopt::quantize {
namespace {

int64_t int_attr(const Node& node, std::string_view name, int64_t otherwise) {
  const Attr* attr = node.attr(name);
  const auto* value = attr ? std::get_if<int64_t>(&attr->value) : nullptr;
  return value ? *value : otherwise;
}

/// Runtimes multiply depthwise weights one by one.
bool is_depthwise(const Node& node, const Tensor& weight) {
  return node.is("Conv") && weight.dim(1) == 1 && weight.dim(0) > 1 && int_attr(node, "group", 1) > 1;
}

}  // namespace

bool is_weighted(const Node& node) { return node.is("Conv") || node.is("Gemm") || node.is("MatMul"); }

int weight_axis(const Node& node) {
  return node.is("Conv") || (node.is("Gemm") && int_attr(node, "transB", 0) != 0) ? 0 : 1;
}

bool is_elementwise(const Node& node) {
  constexpr std::string_view kOps[] = {"Add", "Sub", "Mul", "Div", "Min", "Max", "Pow", "PRelu", "Sum", "Mean"};
  return node.domain.empty() && std::find(std::begin(kOps), std::end(kOps), node.op) != std::end(kOps);
}

/// Rounding costs the square of the step, which is the largest magnitude of those that share it.
int uneven_axis(const Tensor& numbers) {
  const std::vector<float> values = to_floats(numbers);
  int best = -1;
  double least = std::numeric_limits<double>::infinity();
  for (int axis = 0; axis < numbers.rank(); ++axis) {
    const auto count = static_cast<size_t>(numbers.dim(axis));
    if (count < 2) continue;
    const auto inner = static_cast<size_t>(row_major_strides(numbers.dims())[static_cast<size_t>(axis)]);
    std::vector<double> largest(count);
    for (size_t i = 0; i < values.size(); ++i) {
      const auto x = std::fabs(static_cast<double>(values[i]));
      double& most = largest[i / inner % count];
      if (std::isfinite(x)) most = std::max(most, x);
    }
    double cost = 0;
    for (const double most : largest) cost += most * most / static_cast<double>(count);
    if (cost < least) best = axis, least = cost;
  }
  return best;
}

std::vector<float> least_scales(const Node& layer, const Tensor& weight, const Tensor* bias, float input_scale,
                                const Spec& spec) {
  const int axis = weight_axis(layer);
  std::vector<float> room(static_cast<size_t>(weight.dim(axis)));
  const auto widen = [&](const std::vector<float>& other) {
    for (size_t c = 0; c < std::min(room.size(), other.size()); ++c) room[c] = std::max(room[c], other[c]);
  };
  if (bias) widen(bias_room(*bias, input_scale));
  if (spec.pairs_saturate() && !is_depthwise(layer, weight)) widen(pair_room(weight, axis));
  return room;
}

StoredWeight stored_weight(const Node& layer, const Value& weight, const QuantizedWeight& codes, int axis,
                           const Spec& spec) {
  const std::vector<float> numbers = to_floats(*weight.known_constant()), steps = to_floats(codes.codes),
                           scales = to_floats(codes.scale);
  size_t inner = 1;
  for (int k = axis + 1; axis >= 0 && k < weight.constant->rank(); ++k)
    inner *= static_cast<size_t>(weight.constant->dim(k));
  const double reach = spec.weight_bits == 1 ? 2 : most_code(spec.weight_bits) + 0.501;  // with half a step
  double signal = 0, noise = 0, clipped = 0, low = INFINITY, high = -INFINITY;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto x = static_cast<double>(numbers[i]), scale = static_cast<double>(scales[i / inner % scales.size()]);
    if (!std::isfinite(x)) continue;
    const double off = x - static_cast<double>(steps[i]) * scale;
    signal += x * x, noise += off * off;
    low = std::min(low, x), high = std::max(high, x);
    clipped += std::fabs(x) > reach * scale;
  }
  StoredWeight stored{layer.called(), weight.name, fmt::format("w{}", spec.weight_bits), "qdq"};
  stored.elements = std::ssize(numbers);
  stored.rows = weight.constant->dim(weight_axis(layer));
  stored.bytes = static_cast<int64_t>(codes.codes.bytes() + codes.scale.bytes() + codes.zero_point.bytes());
  constexpr double kDecibels = 10;
  stored.sqnr_db = noise > 0 ? kDecibels * std::log10(signal / noise) : INFINITY;
  if (low <= high) stored.coverage = {low, high, clipped / static_cast<double>(numbers.size())};
  return stored;
}

Tensor zero_point_of(const Grid& grid) { return cast(Tensor::scalar<int32_t>(grid.zero_point), grid.type); }

}  // namespace mlopt::quantize
