#include "quantize/emit/weight_forms.h"

#include <fmt/core.h>

#include <array>

#include "core/ir/stored_weights.h"
namespace mlopt::quantize {
namespace {

std::string no_problem(const Weight&, const Spec&) { return {}; }
int64_t any_opset(const Weight&, const Spec&) { return 1; }

int64_t write_floats(Model&, const Weight& weight, const Coded& coded, const Spec&) {
  store(weight, decode(coded));
  return static_cast<int64_t>(weight.value->constant->bytes());
}

/// The best first.
constexpr std::array<const WeightForm*, 6> kForms = {&kMatMulNBitsForm, &kMatMulBnb4Form, &kGatherBlockForm,
                                                     &kDequantizeForm,  &kGatherForm,     &kFloatForm};

/// Why the weight cannot be written so in the opset that the spec asks for.
std::string problem_of(const WeightForm& form, const Weight& weight, const Spec& spec) {
  if (std::string problem = form.problem(weight, spec); !problem.empty()) return problem;
  const bool tensor = form.emit == Emit::kQdq || form.emit == Emit::kGather || form.emit == Emit::kFake;
  if (spec.sparse_outliers > 0 && !tensor) return "its kernel knows no numbers beside the codes";
  const int64_t least = form.opset(weight, spec);
  return spec.opset == 0 || least <= spec.opset ? "" : fmt::format("it needs opset {}", least);
}

/// Is DequantizeLinear what the target is quick with? ONNX Runtime runs it each time; OpenVINO has kernels for matrices
/// behind it, and runs it each time before a convolution. Widths other than 4 and 8 would be stored in more.
bool suits_dequantize(const Weight& weight, const Spec& spec) {
  const int bits = spec.weights.bits;
  const bool has_type = bits == 8 || bits == 4;
  switch (spec.target.runtime) {
    case Runtime::kOrt:
      return spec.weights.is_float8();  // whoever chooses these wants to see them
    case Runtime::kOpenvino:
      return has_type && (weight.op == "MatMul" || weight.op == "Gemm");
    default:
      return has_type;
  }
}

/// Has ONNX Runtime a kernel for MatMulNBits of this format? Others become floats in each run.
bool has_kernel(const Spec& spec) {
  const WeightFormat& w = spec.weights;
  return w.bits == 4 || (spec.rounding_level() == kByteLevel && has_byte_kernel(w.bits, w.group));
}

/// Is the form, where it can be had, better than those after it? ONNX Runtime has quick kernels for 4 bits, and
/// computes what a constant is gathered from once.
bool suits(const WeightForm& form, const Weight& weight, const Spec& spec) {
  const bool ort = spec.target.runtime == Runtime::kOrt;
  switch (form.emit) {
    case Emit::kMatMulNBits:
      return ort && has_kernel(spec);
    case Emit::kMatMulBnb4:
      return ort;
    case Emit::kGatherBlock:
      return ort && spec.weights.bits == 4;
    case Emit::kQdq:
      return suits_dequantize(weight, spec);
    default:
      return form.emit == Emit::kGather;
  }
}

}  // namespace

const WeightForm kFloatForm = {Emit::kFake, no_problem, any_opset, write_floats};

std::string form_problem(const Weight& weight, const Spec& spec) {
  for (const WeightForm* form : kForms)
    if (form->emit == spec.emit) return problem_of(*form, weight, spec);
  return {};
}

const WeightForm& form_of(const Weight& weight, const Spec& spec) {
  for (const WeightForm* form : kForms)
    if (form->emit == spec.emit && problem_of(*form, weight, spec).empty()) return *form;
  for (const WeightForm* form : kForms)
    if (suits(*form, weight, spec) && problem_of(*form, weight, spec).empty()) return *form;
  return kGatherForm;
}

}  // namespace mlopt::quantize
