#include "core/exec/step_info.h"

#include <algorithm>
#include <array>
#include <set>

#include "core/base/checked.h"
#include "core/exec/inferred.h"
#include "core/ir/macs.h"

namespace mlopt {
namespace {

bool multiplies_bytes(const Node& node) {
  static constexpr std::array<std::string_view, 8> kOps{"QLinearConv",           "QLinearConvAdd",      "ConvInteger",
                                                        "QLinearMatMul",         "MatMulInteger",       "QGemm",
                                                        "DynamicQuantizeMatMul", "MatMulIntegerToFloat"};
  return std::find(kOps.begin(), kOps.end(), node.op) != kOps.end();
}

/// Reads no more of its first input than it writes.
bool picks(const Node& node) {
  static constexpr std::array<std::string_view, 4> kOps{"Gather", "GatherElements", "GatherND", "Slice"};
  return std::find(kOps.begin(), kOps.end(), node.op) != kOps.end();
}

std::optional<int64_t> bytes_of(const Value& value) {
  if (value.constant) return static_cast<int64_t>(value.constant->bytes());
  const auto desc = inferred(value);
  return desc ? std::optional(static_cast<int64_t>(desc->bytes())) : std::nullopt;
}

std::optional<int64_t> bytes_of(const std::set<const Value*>& values) {
  int64_t sum = 0;
  for (const Value* v : values) {
    const auto bytes = bytes_of(*v), total = bytes ? checked_add(sum, *bytes) : std::nullopt;
    if (!total) return std::nullopt;
    sum = *total;
  }
  return sum;
}

std::optional<int64_t> traffic(const Node& node) {
  std::set<const Value*> read(node.inputs().begin(), node.inputs().end()),
      written(node.outputs().begin(), node.outputs().end());
  read.erase(nullptr);
  written.erase(nullptr);
  const auto out = bytes_of(written);
  if (!node.bodies().empty() || !out) return std::nullopt;
  if (picks(node)) {
    const auto whole = bytes_of(*node.input(0));
    read.erase(node.input(0));
    const auto in = bytes_of(read);
    return in && whole ? std::optional(*in + *out + std::min(*whole, *out)) : std::nullopt;
  }
  const auto in = bytes_of(read);
  return in ? checked_add(*in, *out) : std::nullopt;
}

}  // namespace

std::string layout_name(const TensorDesc& desc) {
  if (desc.layout == Layout::kRowMajor) return "row-major";
  static constexpr std::array kNames{"nwc", "nhwc", "ndhwc"};  // of rank 3, 4, 5
  const size_t k = desc.dims.size() - 3;
  return k < kNames.size() ? kNames[k] : "channels-last";
}

StepInfo step_info(const NodeView& view, std::string_view kernel) {
  const Node& node = view.node();
  StepInfo info{node.name.empty() ? node.label() : node.name, node.op, std::string(kernel)};
  info.nodes = node.origins.empty() ? std::vector{node.label()} : node.origins;
  info.integer = multiplies_bytes(node);
  info.macs = macs(view);
  info.bytes = traffic(node);
  if (info.bytes) info.layout = "row-major";
  return info;
}

StepInfo step_info(const Plan::Planned& planned, const Model& model) {
  const TensorDesc& out = planned.step.out[0];
  StepInfo info{"", "Reorder", planned.step.label};
  if (planned.node) {
    info = step_info(NodeView(*planned.node, model.opset(planned.node->domain)), planned.step.label);
  } else {
    info.macs = 0;
    info.bytes = static_cast<int64_t>(2 * out.bytes());
  }
  info.layout = layout_name(out);
  return info;
}

}  // namespace mlopt
