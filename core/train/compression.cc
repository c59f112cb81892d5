#include "core/train/compression.h"

#include <fmt/core.h>

#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt::train {
namespace {

constexpr const char* kOption = "--compress";
constexpr double kUsualShare = 0.01;

/// "1%" or "0.01".
double parse_share(std::string text) {
  const bool percent = !text.empty() && text.back() == '%';
  if (percent) text.pop_back();
  const auto number = parse_double(text);
  const double share = number.value_or(0) * (percent ? 0.01 : 1);
  if (!(share > 0 && share <= 1)) usage_error(fmt::format("'{}' is no share", text), kOption, "for example topk:1%");
  return share;
}

}  // namespace

std::span<const CompressionDef> compressions() {
  static const CompressionDef all[] = {fp16_compression(), bf16_compression(), topk_compression(),
                                       one_bit_compression()};
  return all;
}

Compression parse_compression(const std::string& spec) {
  if (spec.empty() || spec == "none") return {};
  const size_t colon = spec.find(':');
  const std::string name = spec.substr(0, colon);
  std::vector<std::string> names;
  for (const CompressionDef& def : compressions()) {
    names.emplace_back(def.name);
    if (def.name != name) continue;
    if (colon == std::string::npos) return {&def, kUsualShare};
    if (!def.takes_share) usage_error(fmt::format("{} takes no share", name), kOption);
    return {&def, parse_share(spec.substr(colon + 1))};
  }
  usage_error(fmt::format("unknown compression '{}'", name), kOption, suggestion(name, names));
}

}  // namespace mlopt::train
