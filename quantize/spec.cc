#include "quantize/spec.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string>

#include "core/base/error.h"
#include "core/base/globs.h"
#include "core/base/named.h"
#include "core/base/text.h"
#include "core/measure/machine.h"
#include "quantize/methods.h"

namespace mlopt::quantize {
namespace {

struct FormatRow {
  std::string_view name;
  Format format;
};
constexpr FormatRow kFormats[] = {
    {"w8a8-dynamic", Format::kW8A8Dynamic}, {"fp16", Format::kF16}, {"bf16", Format::kBF16}};

constexpr std::string_view kMixed = "mixed";

constexpr int kByte = 8, kWord = 16;

bool is_width(int64_t bits, int least) { return (bits >= least && bits <= kByte) || bits == kWord; }

/// Four bits are too few for the whole range: their steps are chosen by the error that they make.
constexpr int kFewBits = 4;

/// "w4a8"; nothing for a text that is no pair of numbers.
std::optional<Spec> parse_static(std::string_view text) {
  const size_t a = text.find('a');
  if (text.empty() || text[0] != 'w' || a == std::string_view::npos) return std::nullopt;
  const auto weights = parse_int(text.substr(1, a - 1)), activations = parse_int(text.substr(a + 1));
  if (!weights || !activations) return std::nullopt;
  if (!is_width(*weights, 1) || !is_width(*activations, 2))
    usage_error(fmt::format("'{}' has a width that there is not", text), {},
                "weights have 1 to 8 bits or 16, activations 2 to 8 or 16");
  Spec spec;
  spec.weight_bits = static_cast<int>(*weights);
  spec.activation_bits = static_cast<int>(*activations);
  if (spec.activation_bits <= kFewBits) spec.calibration = parse_range_method("mse");
  return spec;
}

Spec parse_format(std::string_view text) {
  for (const FormatRow& row : kFormats)
    if (row.name == text) {
      Spec spec;
      spec.format = row.format;
      return spec;
    }
  if (text == kMixed) {
    Spec spec;
    spec.format = Format::kWeights;
    spec.budget.emplace();
    return spec;
  }
  if (const auto pair = parse_static(text)) return *pair;
  if (const auto weights = parse_weight_format(text)) {
    Spec spec;
    spec.format = Format::kWeights;
    spec.weights = *weights;
    return spec;
  }
  const std::vector<std::string> names = format_names();
  usage_error(fmt::format("no format is called '{}'", text), {}, suggestion(text, names));
}

struct EmitRow {
  std::string_view name;
  Emit emit;
};
constexpr EmitRow kEmits[] = {{"qdq", Emit::kQdq},
                              {"qoperator", Emit::kQOperator},
                              {"matmulnbits", Emit::kMatMulNBits},
                              {"matmulbnb4", Emit::kMatMulBnb4},
                              {"gather", Emit::kGather},
                              {"fake", Emit::kFake}};

Emit parse_emit(std::string_view text) {
  if (const EmitRow* row = find_named(std::span<const EmitRow>(kEmits), text)) return row->emit;
  std::vector<std::string> names;
  for (const EmitRow& row : kEmits) names.emplace_back(row.name);
  usage_error(fmt::format("no form is called '{}'", text), "emit", suggestion(text, names));
}

const std::vector<std::string> kTargets = {"onnx",           "ort",          "ort:native",  "ort:x86-avx2",
                                           "ort:x86-avx512", "ort:x86-vnni", "ort:x86-amx", "ort:arm-dot"};

struct ProcessorRow {
  std::string_view feature, target;
};
/// Better ones first.
constexpr ProcessorRow kProcessors[] = {{"amx_int8", "ort:x86-amx"},  {"avx512_vnni", "ort:x86-vnni"},
                                        {"avx_vnni", "ort:x86-vnni"}, {"avx512f", "ort:x86-avx512"},
                                        {"avx2", "ort:x86-avx2"},     {"asimddp", "ort:arm-dot"}};

std::string native_target() {
  const std::vector<std::string> features = describe_machine().features;
  for (const ProcessorRow& row : kProcessors)
    if (std::find(features.begin(), features.end(), row.feature) != features.end()) return std::string(row.target);
  unsupported_error("this processor is none of the targets", "ort:native", "name the one that is meant");
}

/// A spec keeps what "native" was on this machine, so that it means the same on another.
std::string parse_target(std::string_view text) {
  if (text == "ort:native") return native_target();
  if (std::find(kTargets.begin(), kTargets.end(), text) != kTargets.end()) return std::string(text);
  usage_error(fmt::format("no target is called '{}'", text), {}, suggestion(text, kTargets));
}

void parse_part(std::string_view part, Spec& spec) {
  const size_t equals = part.find('=');
  const std::string_view key = part.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : part.substr(equals + 1);
  static const std::vector<std::string> kKeys = {"calibration", "emit",     "method",       "per_tensor",
                                                 "symmetric",   "equalize", "correct_bias", "target",
                                                 "only",        "skip",     "size",         "bits"};
  if (key == "calibration")
    spec.calibration = parse_range_method(value);
  else if (key == "emit")
    spec.emit = parse_emit(value);
  else if (spec.budget && (key == "size" || key == "bits" || key == "latency"))
    spec.budget = parse_budget(key, value);
  else if (key == "method")
    spec.method = find_method(value).name;
  else if (key == "per_tensor" && value.empty())
    spec.per_tensor = true;
  else if (key == "symmetric" && value.empty())
    spec.symmetric = true;
  else if (key == "equalize" && value.empty())
    spec.equalize = true;
  else if (key == "correct_bias" && value.empty())
    spec.correct_bias = true;
  else if (key == "target")
    spec.target = parse_target(value);
  else if (key == "only")
    add_globs(value, spec.only);
  else if (key == "skip")
    add_globs(value, spec.skip);
  else
    usage_error(fmt::format("'{}' is no part of a quantization", part), {}, suggestion(key, kKeys));
}

bool is_integer(Format format) { return format != Format::kF16 && format != Format::kBF16; }

void check_method(const Spec& spec) {
  if (spec.method == Spec().method) return;
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

/// What the parts of a spec must not be together.
void check(const Spec& spec) {
  const bool weights = spec.format == Format::kWeights;
  check_method(spec);
  if (weights && spec.emit == Emit::kQOperator)
    usage_error("operators on integers take integers on both sides", "emit", "leave emit=qoperator out, or use w8a8");
  if (!weights && spec.emit != Emit::kAuto && spec.emit != Emit::kQOperator)
    usage_error(fmt::format("{} is a form of weights alone", name(spec.emit)), "emit",
                "leave it out, or choose a format such as w4g32");
  if ((spec.equalize || spec.correct_bias) && !is_integer(spec.format))
    usage_error(fmt::format("{} keeps what integers would lose", name(spec)),
                spec.equalize ? "equalize" : "correct_bias", "leave it out, or choose a format such as w8a8 or w4");
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

}  // namespace

bool Spec::pairs_saturate() const { return in_bytes() && target != "ort:x86-amx" && target != "ort:arm-dot"; }

bool Spec::held_in_bytes() const {
  const auto in_byte = [](int bits) { return bits > kFewBits && bits <= kByte; };
  return in_byte(weight_bits) && activation_bits <= kByte && activation_bits != kFewBits;
}

std::string name(const Spec& spec) {
  if (spec.budget) return std::string(kMixed);
  if (spec.format == Format::kWeights) return to_string(spec.weights);
  if (spec.format == Format::kStatic) return fmt::format("w{}a{}", spec.weight_bits, spec.activation_bits);
  const auto* row = std::find_if(std::begin(kFormats), std::end(kFormats),
                                 [&](const FormatRow& r) { return r.format == spec.format; });
  return std::string(row->name);
}

std::string_view name(Emit emit) {
  const auto* row =
      std::find_if(std::begin(kEmits), std::end(kEmits), [&](const EmitRow& r) { return r.emit == emit; });
  return row == std::end(kEmits) ? "auto" : row->name;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const FormatRow& row : kFormats) names.emplace_back(row.name);
  for (const char* pair : {"w8a8", "w8a4", "w4a8", "w4a4", "w8a16", "w16a16"}) names.emplace_back(pair);
  for (std::string& more : weight_format_names()) names.push_back(std::move(more));
  names.emplace_back(kMixed);
  return names;
}

Spec parse_spec(std::string_view text) {
  const size_t colon = text.find(':');
  Spec spec = parse_format(text.substr(0, colon));
  if (colon != std::string_view::npos)
    for (const std::string& part : spec_pieces(text.substr(colon + 1), ';')) parse_part(part, spec);
  if (spec.format != Format::kWeights && spec.emit == Emit::kQdq) spec.emit = Emit::kAuto;
  check(spec);
  return spec;
}

std::string to_string(const Spec& spec) {
  const Spec plain;
  std::vector<std::string> parts;
  if (spec.budget) parts.push_back(to_string(*spec.budget));
  if (spec.format == Format::kStatic) parts.push_back("calibration=" + to_string(spec.calibration));
  if (spec.method != plain.method) parts.push_back("method=" + spec.method);
  if (spec.emit != plain.emit) parts.push_back("emit=" + std::string(name(spec.emit)));
  if (spec.per_tensor) parts.emplace_back("per_tensor");
  if (spec.symmetric) parts.emplace_back("symmetric");
  if (spec.equalize) parts.emplace_back("equalize");
  if (spec.correct_bias) parts.emplace_back("correct_bias");
  if (spec.target != plain.target) parts.push_back("target=" + spec.target);
  if (!spec.only.empty()) parts.push_back("only=" + print_globs(spec.only));
  if (!spec.skip.empty()) parts.push_back("skip=" + print_globs(spec.skip));
  return name(spec) + (parts.empty() ? "" : ":" + join(parts, ";"));
}

}  // namespace mlopt::quantize
