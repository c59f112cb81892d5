#pragma once
#include <optional>
#include <span>
#include <vector>

#include "core/rewrite/pass.h"

namespace mlopt::fusion {

/// x W + b of a value: the product of a tensor with a constant matrix that nothing else reads, and a row.
struct Projection {
  Value *x = nullptr, *weight = nullptr, *bias = nullptr;  ///< [batch, rows, in], [in, out], [out] or null
};

/// Takes the value apart; nothing where it is no such product of a tensor of that rank, or is read more than once.
std::optional<Projection> projection_of(Value* v, size_t rank = 3);

/// The weights, of one type, side by side, [in, sum of out], named after the first.
Value* joined_weights(std::span<const Projection> all, Builder& builder);
/// The biases one after the other, zeros where there is none: ONNX Runtime's Attention does without none.
Value* joined_biases(std::span<const Projection> all, Builder& builder);

}  // namespace mlopt::fusion
