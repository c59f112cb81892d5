#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/ir/model.h"
#include "quantize/moments.h"
#include "quantize/quantize.h"

namespace mlopt::quantize {

/// A source as formats are given to it: still in float.
struct Prepared {
  Model model;
  int64_t restored = 0;               ///< nodes on codes that it had, read back to floats
  MomentsByName moments;              ///< where biases are corrected without data
  std::vector<std::string> warnings;  ///< one sentence each
};

/// Functions inlined, codes read back to floats where the spec requantizes, fused as for the device, weights inside of
/// ONNX Runtime's operators taken out, opset raised where the format needs it. Throws Error{kBadInput} for a model that
/// is quantized already, unless the spec requantizes.
Prepared prepare(const Model& source, const Spec& spec, const Means& means);

/// The opset that the spec asks for, where the model does not have it. Integer formats come down to it by this alone,
/// once their methods are done: these look for operators that older opsets lack.
void change_opset(Model& model, const Spec& spec, const PassContext& passes);

/// Does it hold weights in integers or in codes, not in half floats?
bool is_integer_format(Format format);

}  // namespace mlopt::quantize
