#pragma once
#include <optional>

#include "core/rewrite/fusion/attention_site.h"

// What hides keys of scores whose batch and heads are one axis, as torch.nn.MultiheadAttention writes it.
namespace mlopt::fusion {

/// Is there one matrix for all samples and heads?
bool is_same_for_all(const SymDims& dims);

/// [batch or 1, heads or 1, ...] of what is only given as [batch * heads, ...], and v itself where it is the same for
/// all samples and heads; null for others.
Value* before_joining(Value* v, const Joined& joined, const Builder& builder);

/// The shape of v with both axes, or of fewer where all samples and heads have the same; nothing where it is neither
/// before_joining() nor a sum of such, nor of known size.
std::optional<SymDims> parted_dims(Value* v, const Joined& joined, const Builder& builder);

/// v in that shape, which it must have.
Value* parted(Value* v, const Joined& joined, Builder& builder);

}  // namespace mlopt::fusion
