#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/calib/range.h"
#include "quantize/budget.h"
#include "quantize/target.h"
#include "quantize/weight_format.h"

namespace mlopt::quantize {

/// kStatic: weights and activations are integers of `weight_bits` and `activation_bits`, calibrated on data; kWeights:
/// only weights are stored in fewer bits.
enum class Format { kStatic, kW8A8Dynamic, kWeights, kF16, kBF16 };
/// How a result is written. kAuto: QDQ for kStatic, and for kWeights what suits the target, the format and the layer.
/// kFake: of kStatic, floats that round as the integers do, which can be trained, and which no runtime knows; of
/// kWeights, the floats that codes stand for.
enum class Emit { kAuto, kQdq, kQOperator, kMatMulNBits, kMatMulBnb4, kGatherBlock, kGather, kFake };

/// A whole quantization as one string, "w8a8:calibration=entropy;per_tensor;skip=/head/*": parsed and printed by one
/// function each, stored in the report and in the output's metadata.
struct Spec {
  Format format = Format::kStatic;
  int weight_bits = 8, activation_bits = 8;  ///< of kStatic: 1 to 8 or 16, and 2 to 8 or 16
  WeightFormat weights;                      ///< of kWeights
  std::optional<Budget> budget;  ///< of kWeights, of time of kStatic: what each layer is instead, to meet it
  std::map<std::string, WeightFormat> plan;  ///< of kWeights without a budget: layer -> its format, in place of that
  std::string method = "mse";                ///< of kWeights, kStatic and kW8A8Dynamic: a row of methods()
  RangeMethod calibration;
  Emit emit = Emit::kAuto;
  bool per_tensor = false;       ///< one weight scale for a tensor instead of one for each output channel
  bool symmetric = false;        ///< activations (of kWeights: weights) around zero instead of with a zero point
  bool equalize = false;         ///< factors move between layers before, so that channels have like ranges
  bool requantize = false;       ///< a source that is quantized already is read back to floats before
  bool correct_bias = false;     ///< biases make up for what moves the means of layers
  bool require_integer = false;  ///< of kStatic: no node of the graph computes in floats
  bool per_token = false;        ///< of kW8A8Dynamic: each row of an activation has a scale of its own
  bool rotate = false;           ///< features of residual streams are rotated before, so that none is much larger
  double outliers = 0;           ///< share of the input channels of a layer that are multiplied in float
  double sparse_outliers = 0;    ///< of kWeights: share of a weight's numbers that are stored as they are
  Target target;
  int64_t opset = 0;  ///< of ai.onnx that the result has; 0: the source's, raised where the format needs it
  std::optional<int> accuracy_level = {};  ///< of MatMulNBits, where it is given: see rounding_level()
  std::vector<std::string> only, skip;     ///< globs of node names

  /// The target may be a processor without a dot product of bytes, which adds pairs of products in 16 bits and
  /// saturates: weights leave room for that. It costs about half a decibel; without it such a processor loses whole
  /// points of accuracy. So the default target has it too, and only those without such processors have not.
  bool pairs_saturate() const;
  /// Both operands are held in bytes, which runtimes have integer kernels for.
  bool held_in_bytes() const;
  /// ... and have all of their eight bits.
  bool in_bytes() const { return weight_bits == 8 && activation_bits == 8; }
  /// The accuracy level that MatMulNBits is written with: 0 and 1 compute in float32, 4 rounds activations to 8 bits as
  /// well. Where nothing is given, weights of up to 4 bits have that on processors with a dot product of bytes.
  int rounding_level() const;
  /// How kWeights are stored.
  Scheme scheme() const;
};

/// Throws Error{kUsage} naming the part that is wrong and the nearest that is right.
Spec parse_spec(std::string_view text);
std::string to_string(const Spec& spec);
/// As given to --to.
std::string name(const Spec& spec);
std::vector<std::string> format_names();
/// As given to --emit.
std::string_view name(Emit emit);

}  // namespace mlopt::quantize
