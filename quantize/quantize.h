#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/dataset.h"
#include "core/exec/runner.h"
#include "core/rewrite/pass.h"
#include "quantize/grids.h"
#include "quantize/layer_errors.h"
#include "quantize/spec.h"

namespace mlopt::quantize {

/// What quantization is handed from above: what runs and prepares models, and the data.
struct Means {
  const Runner* runner = nullptr;     ///< for calibration and for the errors of layers
  PassContext passes;                 ///< for what is fused before
  const Dataset* data = nullptr;      ///< inputs of the source model; needed by w8a8, else for the errors of layers
  bool generated = false;             ///< the data are random: nothing is learned from them
  int64_t calibration_samples = 256;  ///< at most, evenly spaced over the data; also of what methods look at
  int64_t error_samples = 8;          ///< at most, that the errors of layers are measured on
  double share_seconds = 3;           ///< for measuring how much of the outputs' error each layer makes; 0: do not
  int64_t product_bytes = int64_t{1} << 30;  ///< of products of inputs that are observed before weights are stored
  CalibrationMeans calibration = {};         ///< who calibrates with this process, and what is kept of it
  std::string spill = {};                    ///< folder for what is stored in codes until it is written; empty: memory
  std::function<void(std::string_view what, int64_t done, int64_t total)> progress = {};
  /// The time of a run of a model made from the source, measured beside the source's, as a share of that; empty: no
  /// budget of time can be kept.
  std::function<double(const Model&)> time = {};
  /// What a result of the spec will take in its files, where that is not what it takes as it is.
  std::function<int64_t(const Model&, const Spec&)> file_bytes = {};
};

struct Quantized {
  Model model;
  int64_t layers = 0;                       ///< with weights that are stored in the format
  std::vector<LayerError> errors;           ///< worst SQNR first; empty without data
  double output_error = 0;                  ///< squared, as a share of the outputs' squares, where shares were measured
  std::map<std::string, std::string> left;  ///< node that stays as it was -> why
  std::vector<StoredWeight> weights;        ///< those in codes
  Fallbacks fell_back;
  std::vector<std::string> warnings;  ///< one sentence each
  int64_t restored = 0;               ///< nodes on codes that the source had, read back to floats before
  int64_t equalized = 0;              ///< pairs of layers that factors moved between
  int64_t corrected = 0;              ///< layers whose bias makes up for the mean of their error
  int64_t rotated = 0;                ///< residual streams
  int64_t split = 0;                  ///< layers whose outliers are multiplied in float
  int64_t samples = 0;                ///< seen by calibration
  bool cached = false;                ///< in an earlier run
  std::optional<Spec> decided;        ///< what a budget of time has come to: it gives the same without measuring
  double time = 0;                    ///< of a run, where it was measured, as a share of the source's
  std::vector<std::string> steps;     ///< of Emit::kFake: initializers that hold logarithms of scales
};

/// The source in the format of `spec`: functions inlined, opset raised where the format needs it, fused, then
/// rewritten. Where nothing gains from the format, the source unchanged, with a warning. Throws Error{kUsage} when data
/// are missing, and Error{kBadInput} for a model that is quantized already, unless the spec requantizes.
Quantized quantize(const Model& source, const Spec& spec, const Means& means);

/// A model made with Emit::kFake and trained since, in the integers of `spec`.
void deploy(Model& fake, const Spec& spec);

}  // namespace mlopt::quantize
