#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/calib/range.h"

namespace mlopt::quantize {

/// kStatic: weights and activations are integers of `weight_bits` and `activation_bits`, calibrated on data.
enum class Format { kStatic, kW8A8Dynamic, kW8, kF16, kBF16 };
/// kFake: floats that round as the integers do, which can be trained; no runtime knows them.
enum class Emit { kQdq, kQOperator, kFake };

/// A whole quantization as one string, "w8a8:calibration=entropy;per_tensor;skip=/head/*": parsed and printed by one
/// function each, stored in the report and in the output's metadata.
struct Spec {
  Format format = Format::kStatic;
  int weight_bits = 8, activation_bits = 8;  ///< of kStatic: 4 or 8
  RangeMethod calibration;
  Emit emit = Emit::kQdq;
  bool per_tensor = false;  ///< one weight scale for a tensor instead of one for each output channel
  bool symmetric = false;   ///< activations around zero (int8) instead of uint8 with a zero point
  std::string target = "ort:x86-vnni";
  std::vector<std::string> only, skip;  ///< globs of node names

  /// The target may be a processor without a dot product of bytes, which adds pairs of products in 16 bits and
  /// saturates: weights leave room for that. It costs about half a decibel; without it such a processor loses whole
  /// points of accuracy. So the default target has it too, and only those without such processors have not.
  bool pairs_saturate() const;
  /// Both operands have the eight bits that runtimes have integer kernels for.
  bool in_bytes() const { return weight_bits == 8 && activation_bits == 8; }
};

/// Throws Error{kUsage} naming the part that is wrong and the nearest that is right.
Spec parse_spec(std::string_view text);
std::string to_string(const Spec& spec);
/// As given to --to.
std::string_view name(const Spec& spec);
std::vector<std::string> format_names();

}  // namespace mlopt::quantize
