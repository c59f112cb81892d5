#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "core/tensor/cast.h"
#include "core/tensor/finite.h"
#include "quantize/listed.h"
#include "quantize/plan.h"
#include "quantize/warnings.h"

namespace mlopt::quantize {
namespace {

/// Products smaller than this gain less than the conversions cost.
constexpr int64_t kLeastWidth = 16;
/// A convolution of fewer output channels than that gains all the same where each adds up so many products.
constexpr int64_t kLongSum = 256;

constexpr std::string_view kMoves[] = {"MaxPool", "Reshape", "Flatten",      "Transpose",    "Squeeze", "Unsqueeze",
                                       "Slice",   "Split",   "DepthToSpace", "SpaceToDepth", "Resize",  "Gather"};
constexpr std::string_view kCombines[] = {"Add",    "Mul",     "AveragePool", "GlobalAveragePool",
                                          "Concat", "Sigmoid", "LeakyRelu"};
constexpr std::string_view kActivations[] = {"Relu",     "LeakyRelu",   "Sigmoid",        "Tanh",
                                             "Elu",      "Celu",        "Selu",           "Softplus",
                                             "Softsign", "HardSigmoid", "ThresholdedRelu"};

Expected<bool> constant_weight(const NodeView& view) {
  const Tensor* w = view.constant(1);
  if (!w) return Decline{"its weight is not constant"};
  if (w->dtype() != DType::kF32) return Decline{fmt::format("its weight is {}", name(w->dtype()))};
  if (view.node().input(2) && !view.constant(2)) return Decline{"its bias is not constant"};
  if (!is_finite(*w) || (view.node().input(2) && !is_finite(*view.constant(2)))) return Decline{kNotFinite};
  return true;
}

Expected<bool> matrix_is_worth_it(int64_t inner, int64_t columns) {
  if (inner < kLeastWidth || columns < kLeastWidth)
    return Decline{fmt::format("its weight of {}x{} is too small to gain", inner, columns)};
  return true;
}

/// Runtimes run a group at a time, but for depthwise convolutions, for which they have kernels of their own.
Expected<bool> convolution_is_worth_it(const Tensor& w, int64_t groups) {
  if (w.rank() < 3 || w.size() == 0 || groups < 1) return Decline{"its weight is no convolution's"};
  const int64_t outputs = w.dim(0) / groups, inner = w.size() / w.dim(0);
  const bool depthwise = groups > 1 && outputs == 1 && w.dim(1) == 1;
  if (!depthwise && outputs < kLeastWidth && inner < kLongSum)
    return Decline{fmt::format("{} output channels{} of {} products each are too few to gain", outputs,
                               groups > 1 ? " a group" : "", inner)};
  return true;
}

}  // namespace

Expected<bool> is_product(const NodeView& view, bool any_size) {
  const Node& node = view.node();
  const bool known = node.is("Conv") || node.is("Gemm") || node.is("MatMul");
  if (!known) return Decline{""};
  if (const auto weight = constant_weight(view); !weight) return weight.error();
  const Tensor& w = *view.constant(1);
  if (node.is("Conv")) return any_size && w.rank() >= 3 ? true : convolution_is_worth_it(w, view.get_int("group", 1));
  if (w.rank() != 2) return Decline{"its weight is not a matrix"};
  const bool transposed = node.is("Gemm") && view.get_int("transB", 0) != 0;
  if (node.is("Gemm")) {
    if (view.get_int("transA", 0)) return Decline{"it transposes its activation"};
    if (view.get_float("alpha", 1) != 1 || (node.input(2) && view.get_float("beta", 1) != 1))
      return Decline{"it scales its product"};
    const int64_t columns = w.dim(transposed ? 0 : 1);
    if (const Tensor* c = view.constant(2);
        c && (c->size() != columns || (c->rank() > 0 && c->dims().back() != columns)))
      return Decline{"its bias is not one for each column"};
  }
  return any_size ? true : matrix_is_worth_it(w.dim(transposed ? 1 : 0), w.dim(transposed ? 0 : 1));
}

bool moves_codes(const NodeView& view) {
  const Node& node = view.node();
  if (!listed(kMoves, node)) return false;
  if (node.is("Gather")) return !view.constant(0) && view.constant(1);  // of channels, not of a table's rows
  if (node.is("MaxPool")) return view.opset() >= 12 && node.outputs().size() == 1;
  if (node.is("Resize")) return view.get_string("mode", "nearest") == "nearest" && !node.input(1);
  return true;
}

bool combines_codes(const NodeView& view) {
  const Node& node = view.node();
  if (node.is("Div")) return scalar_operand(view).has_value();
  if (!listed(kCombines, node)) return false;
  if (node.is("AveragePool")) return view.get_int("ceil_mode", 0) == 0 && !view.has("dilations");
  return true;
}

std::optional<int> scalar_operand(const NodeView& view) {
  const Node& node = view.node();
  if (!node.is("Add") && !node.is("Mul") && !node.is("Div")) return std::nullopt;
  for (int i = node.is("Div") ? 1 : 0; i < 2; ++i) {
    const Tensor* c = view.constant(i);
    if (!c || c->dtype() != DType::kF32 || c->size() != 1) continue;
    const float number = to_floats(*c)[0];
    if (std::isnormal(number) && std::isnormal(1 / number)) return i;
  }
  return std::nullopt;
}

bool is_activation(const Node& node) { return listed(kActivations, node); }

bool clamps_at_zero(const NodeView& view) {
  if (view.node().is("Relu")) return true;
  if (!view.node().is("Clip")) return false;
  const auto low = view.number("min", 1, -INFINITY);
  const auto high = view.number("max", 2, INFINITY);
  return low && high && *low == 0 && *high > 0;
}

}  // namespace mlopt::quantize
