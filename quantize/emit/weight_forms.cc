#include "quantize/emit/weight_forms.h"

#include <array>

#include "core/base/text.h"

namespace mlopt::quantize {
namespace {

std::string no_problem(const Weight&, const Spec&) { return {}; }
int64_t any_opset(const Weight&, const Spec&) { return 1; }

int64_t write_floats(Model&, const Weight& weight, const Coded& coded, const Spec&) {
  store(weight, decode(coded));
  return static_cast<int64_t>(weight.value->constant->bytes());
}

/// The best first.
constexpr std::array<const WeightForm*, 5> kForms = {&kMatMulNBitsForm, &kMatMulBnb4Form, &kDequantizeForm,
                                                     &kGatherForm, &kFloatForm};

/// Is the form, where it can be had, better than those after it? ONNX Runtime has quick kernels for 4 bits, computes
/// what a constant is gathered from once, but runs a DequantizeLinear each time.
bool suits(const WeightForm& form, const Spec& spec) {
  const bool ort = starts_with(spec.target, "ort");
  const int bits = spec.weights.bits;
  switch (form.emit) {
    case Emit::kMatMulNBits:
      return ort && bits == 4;
    case Emit::kMatMulBnb4:
      return ort;
    case Emit::kQdq:
      return bits == 8 || (bits == 4 && !ort);  // other widths would be stored in more
    default:
      return form.emit == Emit::kGather;
  }
}

}  // namespace

const WeightForm kFloatForm = {Emit::kFake, no_problem, any_opset, write_floats};

std::string form_problem(const Weight& weight, const Spec& spec) {
  for (const WeightForm* form : kForms)
    if (form->emit == spec.emit) return form->problem(weight, spec);
  return {};
}

const WeightForm& form_of(const Weight& weight, const Spec& spec) {
  for (const WeightForm* form : kForms)
    if (form->emit == spec.emit && form->problem(weight, spec).empty()) return *form;
  for (const WeightForm* form : kForms)
    if (suits(*form, spec) && form->problem(weight, spec).empty()) return *form;
  return kGatherForm;
}

}  // namespace mlopt::quantize
