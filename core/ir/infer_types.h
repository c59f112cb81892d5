#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ir/infer_rules.h"

namespace mlopt::infer_rules {

/// Types of a node's outputs; the rules of one operator each. None at all: the standard's rule knows better.
using Types = std::vector<Type>;
using TypeOf = Types (*)(const NodeView&);

const Type& type_of(const NodeView& view, int i);
const std::optional<SymDims>& dims_of(const NodeView& view, int i);
DType dtype_of(const NodeView& view, int i);
Types one(DType dtype, std::optional<SymDims> dims);
/// The axis, counted from the front, or nothing when it is out of range.
std::optional<size_t> axis_in(int64_t axis, size_t rank);
/// One dimension under broadcasting: an integer above 1 wins over what is not known. Of two lengths of which one may be
/// 1 it is a symbol of its own, which is the same whatever their order, and stays so when either joins it again.
Dim broadcast_dim(const Dim& a, const Dim& b);
/// Is `part` 1 wherever it is not `whole`, as one that is 1 always, or that `whole` was made of by broadcasting?
bool is_choice_of(const Dim& part, const Dim& whole);
/// Shapes under broadcasting.
std::optional<SymDims> broadcast_dims(const std::optional<SymDims>& a, const std::optional<SymDims>& b);

/// The shape of NumPy's matmul.
std::optional<SymDims> product_dims(const std::optional<SymDims>& a, const std::optional<SymDims>& b);

Types gemm(const NodeView& view);
Types concat(const NodeView& view);
Types gather(const NodeView& view);
Types reshape(const NodeView& view);
Types flatten(const NodeView& view);
Types unsqueeze(const NodeView& view);
Types squeeze(const NodeView& view);
Types slice(const NodeView& view);
Types expand(const NodeView& view);
Types range(const NodeView& view);
Types transpose(const NodeView& view);
Types constant_of_shape(const NodeView& view);

Types split(const NodeView& view);
Types pad(const NodeView& view);
Types tile(const NodeView& view);
Types depth_to_space(const NodeView& view);
/// Also of Upsample.
Types resize(const NodeView& view);

Types batch_normalization(const NodeView& view);
Types layer_normalization(const NodeView& view);
Types dropout(const NodeView& view);
/// Of LSTM, GRU and RNN.
Types recurrent(const NodeView& view);

Types convolution(const NodeView& view);
Types transposed_convolution(const NodeView& view);
/// With the source in input `x` and the weights in input `w`.
Types convolution_of(const NodeView& view, int x, int w, DType made);
Types pool(const NodeView& view);
Types global_pool(const NodeView& view);

/// The standard's operators on integers with scales and zero points.
std::span<const std::pair<std::string_view, TypeOf>> quantized_rules();
/// The same of com.microsoft; nothing for other operators.
std::optional<Types> quantized_types(const NodeView& view);
/// com.microsoft's float operators that fusions write; nothing for other operators.
std::optional<Types> contrib_types(const NodeView& view);

/// The name of what is the smaller of the length named `of` and `most`.
std::string at_most(const std::string& of, int64_t most);
/// Is it at_most() of that length, or of one that it was broadcast to, with some number?
bool is_part_of(const Dim& part, const Dim& whole);

}  // namespace mlopt::infer_rules
