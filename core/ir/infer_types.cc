#include "core/ir/infer_types.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "core/ir/cast_target.h"
#include "core/ir/typed_op.h"

namespace mlopt::infer_rules {
namespace {

Types same(const NodeView& view) { return {type_of(view, 0)}; }
Types like_indices(const NodeView& view) { return one(dtype_of(view, 0), dims_of(view, 1)); }

std::optional<SymDims> broadcast_all(const NodeView& view) {
  std::optional<SymDims> dims = SymDims{};
  for (const Value* v : view.node().inputs()) dims = broadcast_dims(dims, v ? v->type.dims : std::nullopt);
  return dims;
}

Types elementwise(const NodeView& view) { return one(dtype_of(view, 0), broadcast_all(view)); }
Types predicate(const NodeView& view) { return one(DType::kBool, broadcast_all(view)); }
Types select(const NodeView& view) { return one(dtype_of(view, 1), broadcast_all(view)); }

Types cast_type(const NodeView& view) { return one(cast_target(view), dims_of(view, 0)); }

Types shape_type(const NodeView& view) {
  const auto found = shape_elements(view);
  return one(DType::kI64, SymDims{found ? Dim(static_cast<int64_t>(found->size())) : Dim()});
}

/// A MatMul, of which a row and an addend change nothing but the numbers.
Types matmul_add(const NodeView& view) {
  auto b = dims_of(view, 1);
  if (view.get_int("transB", 0) != 0 && b && b->size() == 2) std::swap((*b)[0], (*b)[1]);
  return one(dtype_of(view, 0), product_dims(dims_of(view, 0), b));
}

Types matmul(const NodeView& view) { return one(dtype_of(view, 0), product_dims(dims_of(view, 0), dims_of(view, 1))); }

/// Of queries, keys and values with the heads as an axis.
std::optional<Types> attention(const NodeView& view) {
  const auto &q = dims_of(view, 0), &v = dims_of(view, 2);
  if (view.node().outputs().size() != 1 || !q || !v || q->size() != 4 || v->size() != 4) return std::nullopt;
  SymDims out = *q;
  out.back() = v->back();
  return one(dtype_of(view, 0), std::move(out));
}

Types reduce(const NodeView& view) {
  const auto& x = dims_of(view, 0);
  const auto axes = view.ints("axes", 1);
  if (!x || !axes) return one(dtype_of(view, 0), std::nullopt);
  if (axes->empty() && view.get_int("noop_with_empty_axes", 0)) return one(dtype_of(view, 0), x);
  std::vector<bool> reduced(x->size(), axes->empty());
  for (const int64_t a : *axes)
    if (const size_t axis = static_cast<size_t>(a < 0 ? a + static_cast<int64_t>(x->size()) : a); axis < reduced.size())
      reduced[axis] = true;
  const bool keep = view.get_int("keepdims", 1) != 0;
  SymDims out;
  for (size_t i = 0; i < x->size(); ++i)
    if (!reduced[i] || keep) out.push_back(reduced[i] ? Dim(1) : (*x)[i]);
  return one(dtype_of(view, 0), out);
}

/// The index of the largest or smallest element along one axis.
Types arg_extreme(const NodeView& view) {
  auto dims = dims_of(view, 0);
  const auto axis = dims ? axis_in(view.get_int("axis", 0), dims->size()) : std::nullopt;
  if (!axis) return one(DType::kI64, std::nullopt);
  if (view.get_int("keepdims", 1) != 0)
    (*dims)[*axis] = 1;
  else
    dims->erase(dims->begin() + static_cast<std::ptrdiff_t>(*axis));
  return one(DType::kI64, std::move(dims));
}

constexpr std::string_view kSame[] = {"Abs",
                                      "Acos",
                                      "Acosh",
                                      "Asin",
                                      "Asinh",
                                      "Atan",
                                      "Atanh",
                                      "Ceil",
                                      "Celu",
                                      "Clip",
                                      "Cos",
                                      "Cosh",
                                      "CumSum",
                                      "Elu",
                                      "Erf",
                                      "Erfc",
                                      "Exp",
                                      "Floor",
                                      "Gelu",
                                      "Hardmax",
                                      "HardSigmoid",
                                      "HardSwish",
                                      "Identity",
                                      "LeakyRelu",
                                      "Log",
                                      "LogSoftmax",
                                      "LRN",
                                      "Mish",
                                      "Neg",
                                      "Not",
                                      "Reciprocal",
                                      "Relu",
                                      "Round",
                                      "Selu",
                                      "Sigmoid",
                                      "ScatterElements",
                                      "ScatterND",
                                      "Sign",
                                      "Sin",
                                      "Sinh",
                                      "Softmax",
                                      "Softplus",
                                      "Softsign",
                                      "Sqrt",
                                      "Tan",
                                      "Tanh",
                                      "ThresholdedRelu",
                                      "Trilu",
                                      "InstanceNormalization",
                                      "LpNormalization",
                                      "GroupNormalization",
                                      "MeanVarianceNormalization",
                                      "RMSNormalization",
                                      "RotaryEmbedding",
                                      "SimplifiedLayerNormalization",
                                      "Swish",
                                      "Affine",
                                      "ImageScaler",
                                      "Scale"};
/// Of the first opset: a picture without its borders (left, top, right, bottom), or what `scale` leaves of it.
Types crop(const NodeView& view) {
  auto dims = dims_of(view, 0);
  const std::vector<int64_t> border = view.get_ints("border"), size = view.get_ints("scale");
  if (!dims || dims->size() != 4 || border.size() != 4 || (!size.empty() && size.size() != 2))
    return one(dtype_of(view, 0), std::nullopt);
  for (size_t k = 0; k < 2; ++k) {
    Dim& length = (*dims)[2 + k];
    if (!size.empty())
      length = Dim(size[k]);
    else if (const auto all = length.value())
      length = Dim(std::max<int64_t>(0, *all - border[1 - k] - border[3 - k]));
    else
      length = Dim();
  }
  return one(dtype_of(view, 0), std::move(dims));
}

constexpr std::string_view kElementwise[] = {"Add",      "Sub",        "Mul",       "Div",       "Pow",
                                             "Min",      "Max",        "Mean",      "Sum",       "PRelu",
                                             "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor"};
constexpr std::string_view kPredicates[] = {"And",  "Or",      "Xor",         "Equal",
                                            "Less", "Greater", "LessOrEqual", "GreaterOrEqual"};
constexpr std::string_view kReductions[] = {"ReduceMean",      "ReduceSum",      "ReduceMax", "ReduceMin",
                                            "ReduceProd",      "ReduceL1",       "ReduceL2",  "ReduceLogSum",
                                            "ReduceLogSumExp", "ReduceSumSquare"};

std::map<std::string_view, TypeOf> make_rules() {
  std::map<std::string_view, TypeOf> rules = {{"Cast", cast_type},
                                              {"Shape", shape_type},
                                              {"MatMul", matmul},
                                              {"Gemm", gemm},
                                              {"Transpose", transpose},
                                              {"Concat", concat},
                                              {"Gather", gather},
                                              {"GatherElements", like_indices},
                                              {"Reshape", reshape},
                                              {"Flatten", flatten},
                                              {"Unsqueeze", unsqueeze},
                                              {"Squeeze", squeeze},
                                              {"Slice", slice},
                                              {"Expand", expand},
                                              {"ConstantOfShape", constant_of_shape},
                                              {"Range", range},
                                              {"Conv", convolution},
                                              {"MaxPool", pool},
                                              {"AveragePool", pool},
                                              {"LpPool", pool},
                                              {"Where", select},
                                              {"GlobalAveragePool", global_pool},
                                              {"GlobalMaxPool", global_pool},
                                              {"Crop", crop},
                                              {"Split", split},
                                              {"Pad", pad},
                                              {"Tile", tile},
                                              {"DepthToSpace", depth_to_space},
                                              {"Resize", resize},
                                              {"Upsample", resize},
                                              {"ArgMax", arg_extreme},
                                              {"ArgMin", arg_extreme},
                                              {"BatchNormalization", batch_normalization},
                                              {"LayerNormalization", layer_normalization},
                                              {"Dropout", dropout},
                                              {"LSTM", recurrent},
                                              {"GRU", recurrent},
                                              {"RNN", recurrent},
                                              {"ConvTranspose", transposed_convolution}};
  for (const auto name : kSame) rules[name] = same;
  for (const auto name : kElementwise) rules[name] = elementwise;
  for (const auto name : kPredicates) rules[name] = predicate;
  for (const auto name : kReductions) rules[name] = reduce;
  rules.insert(quantized_rules().begin(), quantized_rules().end());
  return rules;
}

/// The rule of an operator of the standard's main domain, or null.
TypeOf find_rule(const Node& node) {
  static const std::map<std::string_view, TypeOf> kRules = make_rules();
  const auto it = node.domain.empty() ? kRules.find(node.op) : kRules.end();
  return it == kRules.end() ? nullptr : it->second;
}

}  // namespace

const Type& type_of(const NodeView& view, int i) {
  static const Type kNothing;
  const Value* v = view.node().input(i);
  return v ? v->type : kNothing;
}
const std::optional<SymDims>& dims_of(const NodeView& view, int i) { return type_of(view, i).dims; }
DType dtype_of(const NodeView& view, int i) { return type_of(view, i).dtype; }

std::optional<size_t> axis_in(int64_t axis, size_t rank) {
  if (axis < 0) axis += static_cast<int64_t>(rank);
  if (axis < 0 || axis >= static_cast<int64_t>(rank)) return std::nullopt;
  return static_cast<size_t>(axis);
}

Types one(DType dtype, std::optional<SymDims> dims) { return {Type::tensor(dtype, std::move(dims))}; }

Types gemm(const NodeView& view) {
  const auto &a = dims_of(view, 0), &b = dims_of(view, 1);
  if (!a || !b || a->size() != 2 || b->size() != 2) return one(dtype_of(view, 0), std::nullopt);
  return one(dtype_of(view, 0),
             SymDims{(*a)[view.get_int("transA", 0) ? 1 : 0], (*b)[view.get_int("transB", 0) ? 0 : 1]});
}

std::optional<std::vector<Type>> output_types(const NodeView& view) {
  if (view.node().is("FusedConv", "com.microsoft")) return convolution(view);
  if (view.node().is("MatMulAdd", "mlopt")) return matmul_add(view);
  if (view.node().is("FakeQuantize", "mlopt") || view.node().is("SeededDropout", "mlopt") ||
      view.node().is("Chain", "mlopt"))
    return std::vector<Type>{type_of(view, 0)};
  if (view.node().domain == "mlopt")
    if (auto types = kept_types(view.node()); !types.empty()) return types;
  if (view.node().is("Attention"))
    if (auto types = attention(view)) return types;
  if (auto types = quantized_types(view)) return types;
  if (auto types = contrib_types(view)) return types;
  const TypeOf rule = find_rule(view.node());
  if (!rule) return std::nullopt;
  Types types = rule(view);
  // An attribute broadcast of the first opsets aligns axes in its own way: leave it to the standard's rule.
  if (types.empty() || view.has("broadcast")) return std::nullopt;
  return types;
}

}  // namespace mlopt::infer_rules

namespace mlopt {

bool has_type_rule(const Node& node) { return infer_rules::find_rule(node) != nullptr; }

}  // namespace mlopt
