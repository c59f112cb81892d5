#include "quantize/check_spec.h"

#include <fmt/core.h>

#include "core/base/error.h"
#include "quantize/methods.h"

namespace mlopt::quantize {
namespace {

constexpr int kByte = 8;
constexpr int kFewBits = 4;

void check_method(const Spec& spec) {
  if (spec.method == Spec().method) return;
  if (spec.format == Format::kWeights && spec.weights.family == Family::kVectors && !spec.budget &&
      find_method(spec.method).encode != round_to_nearest)
    usage_error(fmt::format("{} chooses codes of single numbers", spec.method), "method",
                "leave it out, or choose a format such as codebook2");
  const Use use = find_method(spec.method).use;
  const bool fits = spec.format == Format::kWeights  ? use != Use::kActivations
                    : spec.format == Format::kStatic ? use != Use::kWeights
                                                     : spec.format == Format::kW8A8Dynamic && use == Use::kActivations;
  if (fits) return;
  usage_error(fmt::format("{} is for {}", spec.method,
                          use == Use::kActivations        ? "formats of weights and activations"
                          : use == Use::kWeightsAndStatic ? "weights alone and for activations whose ranges data show"
                                                          : "formats of weights alone"),
              "method", use == Use::kActivations ? "choose w8a8 or w8a8-dynamic" : "choose such as w4g32");
}

/// TensorRT has signed integers around zero: both sides in 8 bits, or weights alone in 4 or 8, and float8.
void check_tensorrt(const Spec& spec) {
  constexpr int kFloat8Generation = 89;
  const WeightFormat& w = spec.weights;
  const bool weights = spec.format == Format::kWeights, float8 = weights && w.family == Family::kF8E4M3;
  const bool uniform = w.family == Family::kUniform && (w.bits == kFewBits || w.bits == kByte);
  const bool fits = weights                          ? !spec.budget && (uniform || float8 || spec.emit == Emit::kFake)
                    : spec.format == Format::kStatic ? spec.in_bytes()
                                                     : spec.format != Format::kW8A8Dynamic;
  if (!fits)
    usage_error(fmt::format("TensorRT does not compute with {}", name(spec)), "target",
                "choose w8a8, w4 in groups such as w4g128, w8, fp8e4m3, fp16 or bf16");
  if (float8 && spec.target.generation() > 0 && spec.target.generation() < kFloat8Generation)
    usage_error(fmt::format("{} has no floats of 8 bits", to_string(spec.target)), "target", "they came with sm_89");
}

void check_target(const Spec& spec) {
  if (spec.target.runtime == Runtime::kTensorrt) check_tensorrt(spec);
  const bool microsoft =
      spec.emit == Emit::kMatMulNBits || spec.emit == Emit::kMatMulBnb4 || spec.emit == Emit::kGatherBlock;
  if (spec.target.rounds_inputs_only() && (spec.emit == Emit::kQOperator || microsoft))
    usage_error(fmt::format("{} does not run {}", to_string(spec.target), name(spec.emit)), "emit",
                "leave it out: qdq is what it reads");
}

/// What is done before and after.
void check_preparation(const Spec& spec) {
  if ((spec.equalize || spec.correct_bias) && !has_codes(spec))
    usage_error(fmt::format("{} keeps what integers would lose", name(spec)),
                spec.equalize ? "equalize" : "correct_bias", "leave it out, or choose a format such as w8a8 or w4");
  if (spec.rotate && !has_codes(spec))
    usage_error(fmt::format("{} has room for large numbers", name(spec)), "rotate", "leave it out");
  if (spec.outliers > 0 && !has_codes(spec))
    usage_error(fmt::format("{} has room for large numbers", name(spec)), "outliers", "leave it out");
  if (spec.per_token && spec.format != Format::kW8A8Dynamic)
    usage_error("tokens have scales of their own where scales are found when the model runs", "per_token",
                "choose w8a8-dynamic");
  if (spec.sparse_outliers > 0 && spec.format != Format::kWeights)
    usage_error("integers are multiplied as they lie, with no numbers beside them", "sparse_outliers",
                "choose a format of weights alone such as w4g32, or --outliers, which are whole channels");
  if (spec.sparse_outliers > 0 && spec.budget && spec.budget->kind == Budget::Kind::kBits)
    usage_error("bits are those of codes, and outliers take more", "sparse_outliers", "give mixed:size= instead");
  if (spec.sparse_outliers > 0 && find_method(spec.method).blocks)
    usage_error(fmt::format("{} learns codes for all numbers of a block", spec.method), "sparse_outliers",
                "choose mse, gptq or another method");
  if (spec.outliers > 0 && spec.require_integer)
    usage_error("outliers are multiplied in float", "outliers", "leave it or require_integer out");
}

/// What says how integers and their steps are chosen.
void check_levels(const Spec& spec) {
  if (!chooses_ranges(spec) && spec.calibration.kind != RangeMethod::Kind::kMinMax)
    usage_error(fmt::format("{} calibrates nothing", name(spec)), "calibration",
                "leave it out, or choose a format such as w8a8");
  if (!has_codes(spec) && spec.per_tensor)
    usage_error(fmt::format("{} has no scales", name(spec)), "per_tensor", "leave it out");
  if (spec.symmetric && spec.target.runtime != Runtime::kTensorrt && !chooses_zero_point(spec))
    usage_error(fmt::format("{} leaves no choice of a zero point", name(spec)), "symmetric",
                "leave it out, or choose a format such as w8a8 or w4");
}

}  // namespace

bool chooses_ranges(const Spec& spec) { return spec.format == Format::kStatic; }

bool has_codes(const Spec& spec) { return spec.format != Format::kF16 && spec.format != Format::kBF16; }

bool chooses_zero_point(const Spec& spec) {
  return spec.format == Format::kStatic ||
         (spec.format == Format::kWeights && (spec.budget || spec.weights.family == Family::kUniform));
}

void check_spec(const Spec& spec) {
  const bool weights = spec.format == Format::kWeights;
  check_method(spec);
  check_target(spec);
  if (spec.accuracy_level && (!weights || spec.target.runtime != Runtime::kOrt))
    usage_error("levels of accuracy are for weights alone in ONNX Runtime", "accuracy_level",
                "leave it out, or choose a format such as w4g32");
  if (spec.require_integer && spec.format != Format::kStatic)
    usage_error(fmt::format("{} leaves activations in floats", name(spec)), "require_integer", "choose such as w8a8");
  if (weights && spec.emit == Emit::kQOperator)
    usage_error("operators on integers take integers on both sides", "emit", "leave emit=qoperator out, or use w8a8");
  if (!has_codes(spec) && spec.emit != Emit::kAuto)
    usage_error(fmt::format("{} is a form of codes, and {} has none", name(spec.emit), name(spec)), "emit",
                "leave it out, or choose a format such as w8a8 or w4g32");
  if (!weights && spec.emit != Emit::kAuto && spec.emit != Emit::kQOperator)
    usage_error(fmt::format("{} is a form of weights alone", name(spec.emit)), "emit",
                "leave it out, or choose a format such as w4g32");
  check_preparation(spec);
  check_levels(spec);
  if (spec.budget && spec.budget->amount == 0)
    usage_error("mixed formats need a budget", "--to", "such as mixed:size=40% or mixed:bits=4.5");
  const bool counts =
      spec.calibration.kind == RangeMethod::Kind::kEntropy || spec.calibration.kind == RangeMethod::Kind::kMse;
  if (spec.activation_bits > kByte && counts)
    usage_error("16 bits have more levels than can be told apart in what was seen", "calibration",
                "minmax or percentile");
  if (spec.emit == Emit::kQOperator && !spec.in_bytes())
    usage_error("operators on integers take eight bits", "emit", "leave emit=qoperator out");
}

}  // namespace mlopt::quantize
