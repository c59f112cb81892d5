#include "cli/precision.h"

#include <array>
#include <utility>

#include "core/base/error.h"

namespace mlopt::cli {
namespace {

constexpr std::array<std::pair<std::string_view, Precision>, 4> kNames = {
    {{"fp32", Precision::kF32}, {"bf16", Precision::kBF16}, {"fp16", Precision::kF16}, {"tf32", Precision::kTF32}}};

}  // namespace

void declare_precision(Options& options, std::string& name) {
  name = kNames[0].first;
  auto& choices =
      options.add("--precision", name, "P", "how float32 is computed: fp32, bf16, fp16 or tf32 (default: fp32)")
          .choices;
  for (const auto& [known, precision] : kNames) choices.emplace_back(known);
}

Precision precision_of(std::string_view name) {
  for (const auto& [known, precision] : kNames)
    if (known == name) return precision;
  internal_error("no precision of this name", std::string(name));
}

RunComparison compare_outputs(const std::vector<std::string>& names, const std::vector<Datum>& expected,
                              const std::vector<Datum>& actual) {
  RunComparison comparison{.outputs = {}, .samples = 1};
  for (size_t i = 0; i < names.size(); ++i) {
    OutputComparison output{names[i], std::nullopt, "is no tensor"};
    const bool tensors = expected[i].is_tensor() && actual[i].is_tensor();
    if (tensors && expected[i].tensor().dims() != actual[i].tensor().dims())
      output.problem = "has another shape";
    else if (tensors && expected[i].tensor().dtype() != DType::kString)
      output = {names[i], difference(actual[i].tensor(), expected[i].tensor()), ""};
    comparison.outputs.push_back(std::move(output));
  }
  return comparison;
}

}  // namespace mlopt::cli
