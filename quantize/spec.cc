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
#include "core/ir/stored_weights.h"
#include "quantize/check_spec.h"
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
                              {"gatherblockquantized", Emit::kGatherBlock},
                              {"gather", Emit::kGather},
                              {"fake", Emit::kFake}};

Emit parse_emit(std::string_view text) {
  return require_named(std::span<const EmitRow>(kEmits), text, "form", "emit").emit;
}

int64_t parse_number(std::string_view value, std::string_view key, int64_t least, int64_t most) {
  const auto number = parse_int(value);
  if (!number || *number < least || *number > most)
    usage_error(fmt::format("'{}' is no number from {} to {}", value, least, most), std::string(key));
  return *number;
}

/// "1%", above 0 and at most half.
double parse_share(std::string_view key, std::string_view value) {
  const auto percent = value.ends_with("%") ? parse_double(value.substr(0, value.size() - 1)) : std::nullopt;
  if (!percent || !(*percent > 0 && *percent <= 50))
    usage_error(fmt::format("'{}' is no share of the {}", value, key == "outliers" ? "input channels" : "numbers"),
                std::string(key), "such as 1%, at most 50%");
  return *percent / 100;
}

/// Weights alone in fewer bits take less room; time takes integers on both sides.
void set_budget(std::string_view key, std::string_view value, Spec& spec) {
  if (spec.budget->amount != 0)
    usage_error(fmt::format("'{}={}' is a second budget beside {}", key, value, to_string(*spec.budget)), "--to",
                "give one: size, bits or latency");
  spec.budget = parse_budget(key, value);
  if (spec.budget->kind == Budget::Kind::kTime) spec.format = Format::kStatic;
}

/// What a spec says by its name alone, in the order in which it is printed.
constexpr std::pair<std::string_view, bool Spec::*> kFlags[] = {{"per_tensor", &Spec::per_tensor},
                                                                {"per_token", &Spec::per_token},
                                                                {"symmetric", &Spec::symmetric},
                                                                {"equalize", &Spec::equalize},
                                                                {"correct_bias", &Spec::correct_bias},
                                                                {"requantize", &Spec::requantize},
                                                                {"rotate", &Spec::rotate},
                                                                {"require_integer", &Spec::require_integer}};

bool set_flag(std::string_view key, Spec& spec) {
  for (const auto& [name, flag] : kFlags)
    if (name == key) return spec.*flag = true;
  return false;
}

std::vector<std::string> keys() {
  std::vector<std::string> keys = {"calibration", "emit",  "method",         "outliers", "sparse_outliers",
                                   "target",      "only",  "skip",           "latency",  "size",
                                   "bits",        "opset", "accuracy_level", "layers"};
  for (const auto& [name, flag] : kFlags) keys.emplace_back(name);
  return keys;
}

/// "w4=/head/MatMul|/fc": a format, and the layers that have it.
void add_planned(std::string_view value, Spec& spec) {
  const size_t equals = value.find('=');
  const auto format = parse_weight_format(value.substr(0, equals));
  if (!format || equals == std::string_view::npos)
    usage_error(fmt::format("'{}' gives no layers a format", value), "layers", "such as layers=w4=/head/MatMul|/fc");
  std::vector<std::string> names;
  add_globs(value.substr(equals + 1), names);
  for (const std::string& name : names) spec.plan.insert_or_assign(name, *format);
}

/// A part for each format.
void print_plan(const Spec& spec, std::vector<std::string>& parts) {
  std::map<std::string, std::vector<std::string>> by_format;
  for (const auto& [layer, format] : spec.plan) by_format[to_string(format)].push_back(layer);
  for (const auto& [format, names] : by_format)
    parts.push_back(fmt::format("layers={}={}", format, print_globs(names)));
}

void parse_part(std::string_view part, Spec& spec) {
  const size_t equals = part.find('=');
  const std::string_view key = part.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : part.substr(equals + 1);
  if (key == "calibration")
    spec.calibration = parse_range_method(value);
  else if (key == "emit")
    spec.emit = parse_emit(value);
  else if (spec.budget && (key == "size" || key == "bits" || key == "latency"))
    set_budget(key, value, spec);
  else if (key == "layers" && spec.format == Format::kWeights && !spec.budget)
    add_planned(value, spec);
  else if (key == "method")
    spec.method = find_method(value).name;
  else if (value.empty() && set_flag(key, spec))
    return;
  else if (key == "outliers")
    spec.outliers = parse_share(key, value);
  else if (key == "sparse_outliers")
    spec.sparse_outliers = parse_share(key, value);
  else if (key == "opset")
    spec.opset = parse_number(value, key, 1, 1000);
  else if (key == "accuracy_level")
    spec.accuracy_level = static_cast<int>(parse_number(value, key, 0, 4));
  else if (key == "target")
    spec.target = parse_target(value);
  else if (key == "only")
    add_globs(value, spec.only);
  else if (key == "skip")
    add_globs(value, spec.skip);
  else
    usage_error(fmt::format("'{}' is no part of a quantization", part), {}, suggestion(key, keys()));
}

}  // namespace

bool Spec::pairs_saturate() const {
  return in_bytes() && target.runtime != Runtime::kTensorrt && !target.adds_in_32_bits();
}

int Spec::rounding_level() const {
  constexpr int kCoarse = 4;  // bits whose own errors are far above those of activations in 8 bits
  return accuracy_level.value_or(target.multiplies_bytes() && weights.bits <= kCoarse ? kByteLevel : 0);
}

Scheme Spec::scheme() const {
  Scheme scheme = scheme_of(weights, per_tensor, symmetric);
  scheme.kept = sparse_outliers;
  return scheme;
}

bool Spec::held_in_bytes() const { return weight_bits > kFewBits && weight_bits <= kByte && activation_bits <= kByte; }

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
  const bool integers = spec.format == Format::kStatic || spec.format == Format::kW8A8Dynamic;
  if (integers && spec.emit == Emit::kQdq) spec.emit = Emit::kAuto;
  if (spec.target.runtime == Runtime::kTensorrt) spec.symmetric = true;
  check_spec(spec);
  return spec;
}

std::string to_string(const Spec& spec) {
  const Spec plain;
  std::vector<std::string> parts;
  if (spec.budget) parts.push_back(to_string(*spec.budget));
  print_plan(spec, parts);
  if (spec.format == Format::kStatic) parts.push_back("calibration=" + to_string(spec.calibration));
  if (spec.method != plain.method) parts.push_back("method=" + spec.method);
  if (spec.emit != plain.emit) parts.push_back("emit=" + std::string(name(spec.emit)));
  for (const auto& [key, flag] : kFlags)
    if (spec.*flag) parts.emplace_back(key);
  if (spec.outliers > 0) parts.push_back(fmt::format("outliers={:g}%", spec.outliers * 100));
  if (spec.sparse_outliers > 0) parts.push_back(fmt::format("sparse_outliers={:g}%", spec.sparse_outliers * 100));
  if (spec.opset) parts.push_back(fmt::format("opset={}", spec.opset));
  if (spec.accuracy_level) parts.push_back(fmt::format("accuracy_level={}", *spec.accuracy_level));
  if (spec.target != plain.target) parts.push_back("target=" + to_string(spec.target));
  if (!spec.only.empty()) parts.push_back("only=" + print_globs(spec.only));
  if (!spec.skip.empty()) parts.push_back("skip=" + print_globs(spec.skip));
  return name(spec) + (parts.empty() ? "" : ":" + join(parts, ";"));
}

}  // namespace mlopt::quantize
