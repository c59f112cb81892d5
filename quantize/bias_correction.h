#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/calib/observe.h"
#include "core/ir/model.h"
#include "quantize/moments.h"
#include "quantize/spec.h"

namespace mlopt::quantize {

struct CorrectableLayer {
  std::string node, output;  ///< their names
};

/// Gives each Conv and Gemm that may be quantized a name and a bias, zeros where it has none and scaled where a Gemm
/// scales it, so that there is something to correct. Gives them in the order of the graph.
std::vector<CorrectableLayer> give_biases(Model& model, const Spec& spec);

/// Empirical bias correction (Nagel et al. 2019, "Data-Free Quantization Through Weight Equalization and Bias
/// Correction", appendix D): layer after layer, the mean that quantization has moved each output channel of `layers` by
/// is taken off the bias, so that later layers are corrected for what earlier corrections leave. Both models run once:
/// what is between layers is held, of fewer samples where it is too much. `original` has the outputs under their names.
/// Gives the number of layers that were corrected.
int64_t correct_biases(Model& quantized, const Model& original, const std::vector<CorrectableLayer>& layers,
                       const Looking& data);

/// The same without data, where it is known what layers are given: the mean by which a layer's outputs move is that of
/// its inputs times the change of its weights (Nagel et al. 2019, section 4.2). `moments` are those of values of
/// `original`, by name; layers whose inputs have none stay as they are.
int64_t correct_biases(Model& quantized, const Model& original, const std::vector<CorrectableLayer>& layers,
                       const MomentsByName& moments, const Runner& runner);

}  // namespace mlopt::quantize
