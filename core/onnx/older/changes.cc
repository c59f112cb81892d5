#include "core/onnx/older/changes.h"

#include "core/ir/infer_rules.h"
#include "core/ir/view.h"
#include "core/onnx/older/rules.h"
#include "core/onnx/older/steps.h"

namespace mlopt::proto {
namespace {

using namespace older;

std::string resize(Node& node) {
  if (node.attr("axes")) return lacks("axes");
  if (std::string why = drop(node, "antialias", int64_t{0}); !why.empty()) return why;
  return drop(node, "keep_aspect_ratio_policy", std::string("stretch"));
}

/// A zero among the sizes stands for the input's size there in older opsets: the same only where that is known to be
/// what the size is.
std::string reshape(Node& node) {
  if (number(node, "allowzero", 0) == 0) return drop(node, "allowzero");
  const auto sizes = infer_rules::elements(node.input(1));
  if (!sizes) return lacks("allowzero");
  const auto& dims = node.input(0)->type.dims;
  for (size_t i = 0; i < sizes->size(); ++i) {
    const Dim& size = (*sizes)[i];
    const bool copied = dims && i < dims->size() && size == (*dims)[i];
    if (!copied && size.value().value_or(0) == 0) return lacks("allowzero");
  }
  return drop(node, "allowzero");
}

std::string grid_sample(Node& node) {
  const auto& dims = node.input(0)->type.dims;
  if (!dims || dims->size() != 4) return "older opsets sample two spatial axes only";
  const std::string mode = NodeView(node, 0).get_string("mode", "linear");
  node.set_attr("mode", mode == "linear" ? std::string("bilinear") : mode == "cubic" ? std::string("bicubic") : mode);
  return "";
}

/// Without a zero point, which has the type of the result, that is uint8.
std::string quantize(Node& node) {
  const int64_t type = number(node, "output_dtype", 0);
  if (!node.input(2) && type != 0 && type != static_cast<int64_t>(DType::kU8)) return lacks("output_dtype");
  drop(node, "output_dtype");
  return drop(node, "block_size", int64_t{0});
}

std::string dequantize(Node& node) {
  const int64_t type = number(node, "output_dtype", 0);
  if (type != 0 && type != static_cast<int64_t>(node.input(1)->type.dtype)) return lacks("output_dtype");
  return drop(node, "output_dtype");
}

/// ONNX Runtime takes a zero point that is left out as uint8 in models of these opsets, whatever the codes are.
std::string typed_zeros(Node& node) {
  const Value* scale = node.input(1);
  const auto dims = scale->type.static_dims();
  if (!node.input(2) && node.input(0)->type.dtype == DType::kI8 && dims) {
    Value* zeros = node.graph()->add_constant(scale->name + "_zero_point", Tensor::zeros(DType::kI8, *dims));
    node.graph()->set_input(&node, 2, zeros);
  }
  return drop(node, "block_size", int64_t{0});
}

/// A scale for each channel needs an axis.
std::string one_scale(Node& node) {
  const auto& dims = node.input(1)->type.dims;
  if (!dims || !dims->empty()) return lacks("axis");
  return drop(node, "axis");
}

std::string windows(Node& node) {
  if (std::string why = drop(node, "left_window_size", int64_t{-1}); !why.empty()) return why;
  return drop(node, "right_window_size", int64_t{-1});
}

std::string lp_pool(Node& node) {
  if (std::string why = drop(node, "ceil_mode", int64_t{0}); !why.empty()) return why;
  return drop_ones(node, "dilations");
}

/// Older opsets take the corner that this one calls output_half_pixel.
std::string roi_align(Node& node) {
  if (!node.attr("coordinate_transformation_mode")) return "older opsets sample half a pixel away";
  return drop(node, "coordinate_transformation_mode", std::string("output_half_pixel"));
}

std::string layout(Node& node) { return drop(node, "layout", int64_t{0}); }
std::string saturate(Node& node) { return drop(node, "saturate"); }
std::string rounding(Node& node) { return drop(node, "round_mode"); }
std::string any_reduction(Node& node) { return drop(node, "reduction", std::string("none")); }
std::string extremes(Node& node) { return refuse(node, "reduction", {"max", "min"}); }

/// Of floating point, it was as fmod only.
std::string modulus(Node& node) {
  return is_integer(node.first_output()->type.dtype) || number(node, "fmod", 0) != 0
             ? ""
             : "older opsets have it for integers only";
}

constexpr Change kChanges[] = {
    {"ArgMax", 12, [](Node& n) { return drop(n, "select_last_index", int64_t{0}); }},
    {"ArgMin", 12, [](Node& n) { return drop(n, "select_last_index", int64_t{0}); }},
    {"Attention", 24, [](Node& n) { return n.input(6) ? std::string("it has an input more") : std::string(); }},
    {"Attention", 25, windows},
    {"AveragePool", 19, [](Node& n) { return drop_ones(n, "dilations"); }},
    {"BatchNormalization", 14, [](Node& n) { return drop(n, "training_mode", int64_t{0}); }},
    {"Cast", 19, saturate},
    {"Cast", 24, rounding},
    {"CastLike", 19, saturate},
    {"CastLike", 24, rounding},
    {"Constant", 12, constant},
    {"DFT", 20, dft},
    {"DequantizeLinear", 13, one_scale},
    {"DequantizeLinear", 21, typed_zeros},
    {"DequantizeLinear", 23, dequantize},
    {"Dropout", 12, dropout},
    {"GRU", 14, layout},
    {"GatherND", 12, [](Node& n) { return drop(n, "batch_dims", int64_t{0}); }},
    {"GreaterOrEqual", 12, or_equal},
    {"GridSample", 20, grid_sample},
    {"Hardmax", 13, softmax},
    {"LSTM", 14, layout},
    {"LessOrEqual", 12, or_equal},
    {"LogSoftmax", 13, softmax},
    {"LpPool", 18, lp_pool},
    {"Max", 12, of_integers},
    {"Min", 12, of_integers},
    {"Mod", 28, modulus},
    {"Pad", 18, pad},
    {"Pad", 19, [](Node& n) { return refuse(n, "mode", {"wrap"}); }},
    {"QuantizeLinear", 13, one_scale},
    {"QuantizeLinear", 19, saturate},
    {"QuantizeLinear", 21, quantize},
    {"QuantizeLinear", 23, [](Node& n) { return drop(n, "precision", int64_t{0}); }},
    {"RNN", 14, layout},
    {"Range", 27, [](Node& n) { return drop(n, "stash_type"); }},
    {"ReduceL1", 18, reduce},
    {"ReduceL2", 18, reduce},
    {"ReduceLogSum", 18, reduce},
    {"ReduceLogSumExp", 18, reduce},
    {"ReduceMax", 18, reduce},
    {"ReduceMean", 18, reduce},
    {"ReduceMin", 18, reduce},
    {"ReduceProd", 18, reduce},
    {"ReduceSum", 13, reduce},
    {"ReduceSumSquare", 18, reduce},
    {"Reshape", 14, reshape},
    {"Resize", 13, resize_inputs},
    {"Resize", 18, resize},
    {"Resize", 19, [](Node& n) { return refuse(n, "coordinate_transformation_mode", {"half_pixel_symmetric"}); }},
    {"RoiAlign", 16, roi_align},
    {"ScatterElements", 16, any_reduction},
    {"ScatterElements", 18, extremes},
    {"ScatterND", 16, any_reduction},
    {"ScatterND", 18, extremes},
    {"Shape", 15, shape},
    {"Softmax", 13, softmax},
    {"SpaceToDepth", 28, [](Node& n) { return drop(n, "mode", std::string("DCR")); }},
    {"Split", 13, split_sizes},
    {"Split", 18, split},
    {"Squeeze", 13, squeeze},
    {"Unsqueeze", 13, squeeze},
};

}  // namespace

std::span<const Change> changes_of_operators() { return kChanges; }

}  // namespace mlopt::proto
