#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "core/rewrite/axis_map.h"

namespace mlopt::graphopt {

/// Numbers in the tensor's own float type; nothing when the type is no float of 16 bits or more, a number does not fit
/// it, or the largest one is not 0 but below its least normal number.
std::optional<Tensor> tensor_like(const Tensor& like, Dims dims, const std::vector<double>& numbers);
/// The least positive number of a float type that has all its bits.
double least_normal(DType type);
bool is_foldable_float(DType type);

/// The output channels of a convolution's weight: [M, C/g, k...] of Conv, [C, M/g, k...] of ConvTranspose.
struct ConvWeight {
  const Tensor& weight;
  bool transposed;
  int64_t group;

  /// Declines a weight that does not fit its group or its bias, and one that other nodes need unchanged.
  static Expected<ConvWeight> of(const Node& conv, const Builder& builder);
  int64_t channels() const { return transposed ? weight.dim(1) * group : weight.dim(0); }
  /// The output channel of element i of the flat weight.
  int64_t channel_of(int64_t i) const;
};

/// A convolution with a constant weight, and bias if any, that one node alone reads.
Pattern constant_convolution(std::string_view ops = "Conv|ConvTranspose", std::string name = "conv");

/// Does an operator of the first opsets align its second operand with given axes, not with the last ones?
bool aligns_axes(const Node& node);

/// `constant` as one number for each of `channels` channels of a value of rank `rank` whose channel axis is 1: a
/// scalar, or all axes but that one of size 1. Nothing for other shapes.
std::optional<std::vector<double>> per_channel(const Tensor& constant, int64_t channels, int64_t rank);

/// The convolution of x with these numbers, as many as it has channels for the bias, in the place of its own, of the
/// weight's type. Declines numbers that do not fit that.
Expected<Value*> convolution_with(const Node& conv, Value* x, const std::vector<double>& weight,
                                  const std::vector<double>& bias, Builder& builder);

/// The convolution with every output channel c times scale[c] plus shift[c]: new weight and bias inputs on a copy of
/// `conv`. Declines when a number does not fit the weight's type.
Expected<Replacement> affine_convolution(Node* conv, const std::vector<double>& scale, const std::vector<double>& shift,
                                         Builder& builder);

/// What BatchNormalization does to each channel: x * scale + shift.
struct ChannelAffine {
  std::vector<double> scale, shift;
};
/// Declines one in training mode and one whose statistics are not constant or not by channel.
Expected<ChannelAffine> affine_of(const NodeView& batchnorm);

/// The sizes [start, end) of x, whose rank is known: Shape, with limits (opset 15) where these are not all.
Value* make_shape(Builder& builder, Value* x, int64_t start, int64_t end, Type type);

/// x, whose rank is known, taken apart along an axis into pieces of these sizes. The builder may be one of at().
Node* make_split(Builder builder, Value* x, size_t axis, const std::vector<int64_t>& sizes);

/// Everything that reads `value` reads an initializer with its name instead.
void replace_by_constant(Graph& graph, Value* value, Tensor tensor);

/// Are they one value, or constants of one type and shape with the same numbers? Both may be null.
bool same_constant(const Value* a, const Value* b);

/// Are the two shapes provably the same?
bool same_dims(const std::optional<SymDims>& a, const std::optional<SymDims>& b);

/// In every graph, bodies first, `rewrite_first` until it finds nothing: for rewrites that do away with nodes and
/// values beyond the one that they begin with, which a walk over the graph could come to later. Throws Error{kInternal}
/// where it never does so.
void rewrite_one_by_one(Graph& graph, const std::function<bool(Graph&)>& rewrite_first, PassTally& tally);

}  // namespace mlopt::graphopt
