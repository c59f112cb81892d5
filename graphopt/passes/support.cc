#include "graphopt/passes/support.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/rewrite/fusion/norm.h"
#include "core/tensor/cast.h"

namespace mlopt::graphopt {

bool is_foldable_float(DType type) {
  return type == DType::kF32 || type == DType::kF64 || type == DType::kF16 || type == DType::kBF16;
}

double least_normal(DType type) {
  if (type == DType::kF64) return std::numeric_limits<double>::min();
  return type == DType::kF16 ? 0x1p-14 : std::numeric_limits<float>::min();
}

std::optional<Tensor> tensor_like(const Tensor& like, Dims dims, const std::vector<double>& numbers) {
  if (!is_foldable_float(like.dtype())) return std::nullopt;
  Tensor made = cast(Tensor::of<double>(std::move(dims), numbers), like.dtype());
  double largest = 0;
  for (const double n : to_doubles(made)) {
    if (!std::isfinite(n)) return std::nullopt;
    largest = std::max(largest, std::abs(n));
  }
  // Below the least normal number bits are lost, at last all of them.
  const bool lost = largest < least_normal(like.dtype()) &&
                    std::any_of(numbers.begin(), numbers.end(), [](double n) { return n != 0; });
  return lost ? std::nullopt : std::optional(made);
}

Expected<ConvWeight> ConvWeight::of(const Node& conv, const Builder& builder) {
  const ConvWeight found{*conv.input(1)->known_constant(), conv.op == "ConvTranspose",
                         builder.view(conv).get_int("group", 1)};
  if (found.weight.rank() < 3 || found.weight.size() == 0 || found.group < 1 || found.weight.dim(0) % found.group != 0)
    return Decline{"the convolution's weight is not valid"};
  const Tensor* bias = conv.input(2) ? conv.input(2)->known_constant() : nullptr;
  if (bias && bias->size() != found.channels()) return Decline{"the convolution's bias is not valid"};
  constexpr int64_t kSmall = 4096;
  if (static_cast<int64_t>(found.weight.bytes()) > kSmall && !conv.input(1)->single_use())
    return Decline{"the convolution's weight is used elsewhere too"};
  return found;
}

Pattern constant_convolution(std::string_view ops, std::string name) {
  return Pattern::op(ops, {Pattern::any("x"), Pattern::constant("w"), Pattern::optional_constant("b")})
      .as(std::move(name))
      .single_use();
}

bool aligns_axes(const Node& node) { return node.attr("axis") != nullptr; }

int64_t ConvWeight::channel_of(int64_t i) const {
  int64_t inner = 1;
  for (int k = 2; k < weight.rank(); ++k) inner *= weight.dim(k);
  if (!transposed) return i / (inner * weight.dim(1));
  const int64_t in_channel = i / (inner * weight.dim(1)), in_group = in_channel / (weight.dim(0) / group);
  return in_group * weight.dim(1) + i / inner % weight.dim(1);
}

std::optional<std::vector<double>> per_channel(const Tensor& constant, int64_t channels, int64_t rank) {
  if (constant.size() == 1 && constant.rank() <= rank)
    return std::vector<double>(static_cast<size_t>(channels), number_at(constant, 0));
  const auto row = fusion::by_channel(constant, channels, static_cast<size_t>(rank));
  return row ? std::optional(to_doubles(*row)) : std::nullopt;
}

Expected<Value*> convolution_with(const Node& conv, Value* x, const std::vector<double>& weight,
                                  const std::vector<double>& bias, Builder& builder) {
  const Tensor& like = *conv.input(1)->known_constant();
  const auto new_weight = tensor_like(like, like.dims(), weight);
  const auto new_bias = tensor_like(like, {static_cast<int64_t>(bias.size())}, bias);
  if (!new_weight || !new_bias) return Decline{"the folded weights do not fit their type"};
  std::vector<Value*> inputs = {x, builder.successor(conv.input(1), *new_weight)};
  if (conv.input(2))
    inputs.push_back(builder.successor(conv.input(2), *new_bias));
  else if (std::any_of(bias.begin(), bias.end(), [](double n) { return n != 0; }))
    inputs.push_back(builder.constant(inputs[1]->name + "_bias", *new_bias));
  return builder.op(conv.op, std::move(inputs), conv.attrs);
}

Expected<Replacement> affine_convolution(Node* conv, const std::vector<double>& scale, const std::vector<double>& shift,
                                         Builder& builder) {
  const auto layout = ConvWeight::of(*conv, builder);
  if (!layout) return layout.error();
  const Tensor& weight = layout->weight;
  std::vector<double> w = to_doubles(weight);
  for (size_t i = 0; i < w.size(); ++i) w[i] *= scale[static_cast<size_t>(layout->channel_of(static_cast<int64_t>(i)))];
  std::vector<double> b = shift;
  if (const Value* bias = conv->input(2)) {
    const std::vector<double> old = to_doubles(*bias->known_constant());
    for (size_t c = 0; c < b.size(); ++c) b[c] += old[c] * scale[c];
  }
  const auto made = convolution_with(*conv, conv->input(0), w, b, builder);
  if (!made) return made.error();
  (*made)->producer->name = conv->name;
  return Replacement{*made};
}

Expected<ChannelAffine> affine_of(const NodeView& bn) {
  const Node& node = bn.node();
  if (bn.get_int("training_mode", 0) || node.outputs().size() > 1) return Decline{"it is in training mode"};
  if (bn.opset() < 7 && bn.get_int("is_test", 0) == 0) return Decline{"it is in training mode"};
  if (bn.get_int("spatial", 1) != 1) return Decline{"its statistics are not by channel"};
  std::vector<std::vector<double>> numbers;
  for (int i = 1; i <= 4; ++i) {
    if (!bn.constant(i)) return Decline{"its statistics are not constant"};
    numbers.push_back(to_doubles(*bn.constant(i)));
    if (numbers.back().size() != numbers[0].size()) return Decline{"its statistics differ in size"};
  }
  const double epsilon = bn.get_float("epsilon", 1e-5f);
  ChannelAffine found;
  for (size_t c = 0; c < numbers[0].size(); ++c) {
    found.scale.push_back(numbers[0][c] / std::sqrt(numbers[3][c] + epsilon));
    found.shift.push_back(numbers[1][c] - numbers[2][c] * found.scale[c]);
  }
  return found;
}

Value* make_shape(Builder& builder, Value* x, int64_t start, int64_t end, Type type) {
  std::vector<Attr> attrs;
  if (start > 0) attrs.push_back({"start", start, ""});
  if (end < std::ssize(*x->type.dims)) attrs.push_back({"end", end, ""});
  return builder.op("Shape", {x}, std::move(attrs), std::move(type));
}

Node* make_split(Builder builder, Value* x, size_t axis, const std::vector<int64_t>& sizes) {
  std::vector<Value*> inputs{x};
  std::vector<Attr> attrs{{"axis", static_cast<int64_t>(axis), ""}};
  if (builder.opset() >= 13)
    inputs.push_back(builder.constant(x->name + "_sizes", Tensor::ints(sizes)));
  else
    attrs.push_back({"split", sizes, ""});
  Node* split =
      builder.node("Split", std::move(inputs), std::move(attrs), x->name + "_part", static_cast<int>(sizes.size()));
  for (size_t i = 0; i < sizes.size(); ++i) {
    SymDims dims = *x->type.dims;
    dims[axis] = sizes[i];
    split->outputs()[i]->type = Type::tensor(x->type.dtype, dims);
  }
  return split;
}

void replace_by_constant(Graph& graph, Value* value, Tensor tensor) {
  const std::string name = value->name;
  graph.rename(value, graph.fresh_name(name));
  graph.replace_uses(value, graph.add_constant(name, std::move(tensor)));
}

bool same_constant(const Value* a, const Value* b) {
  if (a == b) return true;
  const Tensor *p = a ? a->known_constant() : nullptr, *q = b ? b->known_constant() : nullptr;
  return p && q && p->dtype() == q->dtype() && p->dims() == q->dims() && to_doubles(*p) == to_doubles(*q);
}

bool same_dims(const std::optional<SymDims>& a, const std::optional<SymDims>& b) {
  if (!a || !b || a->size() != b->size()) return false;
  for (size_t i = 0; i < a->size(); ++i)
    if (!((*a)[i] == (*b)[i])) return false;
  return true;
}

/// For each node that there was before the first: more than any pass makes.
constexpr size_t kMostRewrites = 20;

void rewrite_one_by_one(Graph& graph, const std::function<bool(Graph&)>& rewrite_first, PassTally& tally) {
  for (Node* node : graph.nodes())
    for (Graph* body : node->bodies()) rewrite_one_by_one(*body, rewrite_first, tally);
  const size_t most = kMostRewrites * (graph.nodes().size() + 1);
  for (size_t i = 0; rewrite_first(graph); ++i, ++tally.applied)
    if (i == most) internal_error("rewrites do not come to rest");
}

}  // namespace mlopt::graphopt
