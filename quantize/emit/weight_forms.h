#pragma once
#include <string>

#include "core/calib/weights.h"
#include "quantize/coded.h"
#include "quantize/spec.h"

namespace mlopt::quantize {

/// A way to write a weight that is stored in codes. One file a form.
struct WeightForm {
  Emit emit;
  /// Why it cannot be written so; empty where it can.
  std::string (*problem)(const Weight& weight, const Spec& spec);
  /// The opset of ai.onnx that it needs.
  int64_t (*opset)(const Weight& weight, const Spec& spec);
  /// Puts it in the weight's place; gives the bytes of what is stored.
  int64_t (*write)(Model& model, const Weight& weight, const Coded& coded, const Spec& spec);
};

/// The form that the spec asks for where the weight can have it, else the one that suits the target best.
const WeightForm& form_of(const Weight& weight, const Spec& spec);
/// Why the weight is not in the form that the spec asks for; empty where it is, or where the spec leaves it open.
std::string form_problem(const Weight& weight, const Spec& spec);

/// com.microsoft.MatMulNBits: codes of uniform levels in 2, 4 or 8 bits, in groups of 16 to 256.
extern const WeightForm kMatMulNBitsForm;
/// com.microsoft.MatMulBnb4: nf4 and fp4, in groups that divide the inputs of an output.
extern const WeightForm kMatMulBnb4Form;
/// com.microsoft.GatherBlockQuantized: tables in 4 or 8 bits, in groups of 16 to 256.
extern const WeightForm kGatherBlockForm;
/// DequantizeLinear: integers of 4 or 8 bits, floats of 8.
extern const WeightForm kDequantizeForm;
/// Planes of bits that standard operators put together and look up: every format, and constants for a runtime.
extern const WeightForm kGatherForm;
/// Floats that have the values which the codes stand for.
extern const WeightForm kFloatForm;

}  // namespace mlopt::quantize
