#pragma once
#include <optional>

#include "core/ir/graph.h"

namespace mlopt {

/// The value that a Constant node gives, in any of its forms; nothing for other nodes, sparse values, and values that
/// the caller of a function gives.
std::optional<Tensor> constant_value(const Node& node);
/// The numbers of shape arithmetic (int64, int32 or bool) where inference followed all of them; nothing for other
/// values and for constants.
std::optional<Tensor> known_value(const Value& value);
/// The constant that the value is, or known_value().
std::optional<Tensor> constant_or_known(const Value& value);
/// What the value is but for Identities, of which it may be the last.
const Value* before_identities(const Value* value);
/// A number as the body of a Loop wants its counter and its condition: a list of one where it says so, as PyTorch's
/// exporter does and ONNX Runtime heeds, else a scalar.
Tensor number_for(const Value& parameter, const Tensor& scalar);
/// Is what the node gives more than a function of its inputs?
bool is_random(const Node& node);
/// Notes it as the constant of the node's output.
void note_constant(Node& node);

}  // namespace mlopt
