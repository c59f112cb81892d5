#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/rewrite/pass.h"

namespace mlopt::fusion {

/// Why the target has no LayerNormalization (`centered`) or RMSNormalization of x; null where it has.
const char* no_norm(bool centered, const Value& x, const Builder& builder);
/// Its name there.
std::string norm_name(bool centered, const Builder& builder);

/// What is normalized over its channels, axis 1 of at least 3.
struct ChannelNorm {
  Value* x = nullptr;
  double epsilon = 0;
};
/// (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon) over channels, however that is spelt; nothing for other
/// values.
std::optional<ChannelNorm> norm_of_channels(const Node& root, const Builder& builder);

/// The numbers [C, 1, ...] or [1, C, 1, ...] that go with the channels, axis 1, of a value of that rank, as [C].
std::optional<Tensor> by_channel(const Tensor& numbers, int64_t channels, size_t rank);

/// factor mean(dividend^2) + epsilon.
struct MeanSquare {
  static constexpr size_t kChannels = SIZE_MAX;  ///< axis 1 alone, which is not the last

  Value* dividend = nullptr;
  double epsilon = 0;
  size_t from = 0;  ///< the first of the last axes that the mean is over, or kChannels
  double factor = 1;
};
/// What v is the square root of; the axes stay as ones.
std::optional<MeanSquare> root_mean_square(const Value* v, const Builder& builder);

/// The same value, or the same difference computed twice.
bool same_value(const Value* a, const Value* b);

/// Is it a normalization over the last axes that norm_name() names?
inline bool is_norm(const Node& node) {
  return node.is("LayerNormalization") || node.is("RMSNormalization") || node.is("SimplifiedLayerNormalization");
}

}  // namespace mlopt::fusion
