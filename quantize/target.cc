#include "quantize/target.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/measure/machine.h"

namespace mlopt::quantize {
namespace {

struct RuntimeRow {
  std::string_view name;
  Runtime runtime;
  std::string_view usual;  ///< processor where none is named
  bool on_cpu;
};
constexpr RuntimeRow kRuntimes[] = {{"onnx", Runtime::kOnnx, "", false},
                                    {"ort", Runtime::kOrt, "x86-vnni", true},
                                    {"openvino", Runtime::kOpenvino, "x86-vnni", true},
                                    {"tensorrt", Runtime::kTensorrt, "", false}};

constexpr std::array<std::string_view, 5> kCpus = {"x86-avx2", "x86-avx512", "x86-vnni", "x86-amx", "arm-dot"};
constexpr std::array<std::string_view, 9> kGpus = {"sm_72", "sm_75", "sm_80",  "sm_86", "sm_87",
                                                   "sm_89", "sm_90", "sm_100", "sm_120"};
constexpr std::string_view kNative = "native";

struct FeatureRow {
  std::string_view feature, processor;
};
/// Better ones first.
constexpr FeatureRow kFeatures[] = {{"amx_int8", "x86-amx"},   {"avx512_vnni", "x86-vnni"}, {"avx_vnni", "x86-vnni"},
                                    {"avx512f", "x86-avx512"}, {"avx2", "x86-avx2"},        {"asimddp", "arm-dot"}};

std::string native_processor() {
  const std::vector<std::string> features = describe_machine().features;
  for (const FeatureRow& row : kFeatures)
    if (std::find(features.begin(), features.end(), row.feature) != features.end()) return std::string(row.processor);
  unsupported_error("this processor is none of the targets", "--target", "name the one that is meant");
}

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const RuntimeRow& row : kRuntimes) {
    const std::string name(row.name);
    names.push_back(name);
    if (row.on_cpu) {
      names.push_back(name + ":native");
      for (const std::string_view cpu : kCpus) names.push_back(fmt::format("{}:{}", name, cpu));
    }
    if (row.runtime == Runtime::kTensorrt)
      for (const std::string_view gpu : kGpus) names.push_back(fmt::format("{}:{}", name, gpu));
  }
  return names;
}

const RuntimeRow& row_of(Runtime runtime) {
  return *std::find_if(std::begin(kRuntimes), std::end(kRuntimes),
                       [&](const RuntimeRow& row) { return row.runtime == runtime; });
}

}  // namespace

int Target::generation() const {
  constexpr std::string_view kPrefix = "sm_";
  if (!processor.starts_with(kPrefix)) return 0;
  return static_cast<int>(parse_int(processor.substr(kPrefix.size())).value_or(0));
}

Target parse_target(std::string_view text) {
  const std::vector<std::string> names = target_names();
  if (std::find(names.begin(), names.end(), text) == names.end())
    usage_error(fmt::format("no target is called '{}'", text), {}, suggestion(text, names));
  const size_t colon = text.find(':');
  const auto* row = std::find_if(std::begin(kRuntimes), std::end(kRuntimes),
                                 [&](const RuntimeRow& r) { return r.name == text.substr(0, colon); });
  const std::string_view processor = colon == std::string_view::npos ? row->usual : text.substr(colon + 1);
  return {row->runtime, processor == kNative ? native_processor() : std::string(processor)};
}

std::string to_string(const Target& target) {
  const RuntimeRow& row = row_of(target.runtime);
  if (target.processor.empty()) return std::string(row.name);
  return fmt::format("{}:{}", row.name, target.processor);
}

}  // namespace mlopt::quantize
