#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "backends/gpu/operand.h"

namespace mlopt::gpu {

/// What makes the sums of a product or a convolution of codes with weights.
struct SumsMaker {
  /// Of the other operand and its zero point (null: none), in `bytes` of scratch.
  std::function<CodeSums(const Buffers&, const void* codes, const void* zero, std::byte* scratch)> run;
  size_t bytes = 0;
  bool packed = false;           ///< by the library's products of signed codes
  std::vector<int> unread = {};  ///< inputs of the node that it has in a form of its own
  std::string label = {};
  size_t weight_bytes = 0;  ///< in that form
};

/// A step with one output that has these sums made; what runs is to be filled in.
PlannedStep step_of(TensorDesc out, const SumsMaker& sums);

/// Constant weights as products of signed codes want them: rows of `pitch` bytes, and the sum of each row behind.
class PackedCodes {
 public:
  static constexpr int64_t kMultiple = 16;  ///< of pitch and rows: what tensor cores read at once

  /// Of [rows, length] codes, or [length, rows] where `turned`.
  PackedCodes(const Tensor& codes, int64_t rows, int64_t length, bool turned);

  const std::byte* codes(WorkQueue& queue) { return blob_.at(queue); }
  const int32_t* sums(WorkQueue& queue) {
    return reinterpret_cast<const int32_t*>(blob_.at(queue) + static_cast<size_t>(rows * pitch));
  }

  size_t bytes() const { return static_cast<size_t>(rows) * (static_cast<size_t>(pitch) + sizeof(int32_t)); }

  int64_t rows, pitch;  ///< both rounded up

 private:
  Brought blob_;
};

/// The weights in input `codes` packed, where they and their zero points (input `zero`) are constant and these are 0 as
/// signed codes, so that sums lack the other operand's zero point alone, and where sums fit into 32 bits; else null.
std::shared_ptr<PackedCodes> packed_codes(const Site& site, int codes, int zero, int64_t rows, int64_t length,
                                          bool turned);

/// Sums of rows of codes times one constant matrix of weights, inputs b and bz; nothing where these cannot be packed,
/// or are too few to pay.
std::optional<SumsMaker> packed_product(const Site& site, const IntegerProductArgs& args, int b, int bz);

/// Sums of the convolution with the constant weights of inputs w and wz, where products are faster (conv_product.h) and
/// weights can be packed.
std::optional<SumsMaker> packed_conv(const Site& site, const IntegerConvArgs& args, int w, int wz);

}  // namespace mlopt::gpu
