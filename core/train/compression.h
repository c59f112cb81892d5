#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/tensor/dtype.h"

namespace mlopt::train {

/// A form of gradients that takes fewer bytes than float32. What it loses is to be added to the next gradients (error
/// feedback; Seide et al. 2014, Karimireddy et al. 2019), so that it is only late.
struct CompressionDef {
  std::string_view name, doc;
  std::optional<DType> sum_type;  ///< ranks' codes are added up as numbers of this type; nothing: all are gathered
  bool takes_share;               ///< "NAME:1%"
  /// Of the code for `count` numbers. The same on all ranks.
  size_t (*bytes)(size_t count, double share);
  /// `out` has so many bytes.
  void (*encode)(std::span<const float> values, double share, std::byte* out);
  /// Adds to `into` what `code` stands for.
  void (*add)(const std::byte* code, double share, std::span<float> into);
};

CompressionDef fp16_compression();
CompressionDef bf16_compression();
CompressionDef topk_compression();
CompressionDef one_bit_compression();

/// All of them, in the order of the documentation.
std::span<const CompressionDef> compressions();

/// A choice of one; `kind` is null for none.
struct Compression {
  const CompressionDef* kind = nullptr;
  double share = 1;
};
/// Of "fp16", "topk:1%"; "" and "none" mean none. Throws Error{kUsage} with a suggestion.
Compression parse_compression(const std::string& spec);

}  // namespace mlopt::train
