#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/ir/model.h"
#include "quantize/emit/emitted.h"
#include "quantize/spec.h"

namespace mlopt::quantize {

/// Turns what emit_qdq() wrote into floats that round as its integers do, so that they can be trained: QuantizeLinear
/// and DequantizeLinear become mlopt.FakeQuantize, weights the floats that their codes were made of behind one, biases
/// just floats. The codes of weights have so many bits, one for -1 and 1; 0: as their types have. The steps are
/// initializers that hold logarithms; gives their names.
std::vector<std::string> emit_fake(Model& model, const Emitted& qdq, int weight_bits = 0);

/// The way back, with the weights and steps as they are now: what emit_qdq() would have written with these.
void emit_trained(Model& model, const Spec& spec);

}  // namespace mlopt::quantize
