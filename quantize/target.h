#pragma once
#include <string>
#include <string_view>

namespace mlopt::quantize {

enum class Runtime { kOnnx, kOrt, kOpenvino, kTensorrt };

/// What a result will run on, as --target names it: a runtime, and where that matters a processor.
struct Target {
  Runtime runtime = Runtime::kOrt;
  std::string processor = "x86-vnni";  ///< empty: any

  /// Such a processor has a sum of products of bytes that does not saturate, surely.
  bool adds_in_32_bits() const { return processor == "x86-amx" || processor == "arm-dot"; }
  /// Such a processor multiplies bytes sooner than floats.
  bool multiplies_bytes() const { return adds_in_32_bits() || processor == "x86-vnni"; }
  /// Generation of NVIDIA's processors, 89 of "sm_89"; 0: not said.
  int generation() const;
  /// The runtime rounds what products read, finds by itself what else can stay integer, and takes biases as floats.
  bool rounds_inputs_only() const { return runtime == Runtime::kOpenvino || runtime == Runtime::kTensorrt; }
  friend bool operator==(const Target&, const Target&) = default;
};

/// "ort:native" and "openvino:native" are what this machine is, so that a spec means the same on another. Throws
/// Error{kUsage} for a name that there is not, Error{kUnsupported} when this machine has none.
Target parse_target(std::string_view text);
std::string to_string(const Target& target);

}  // namespace mlopt::quantize
