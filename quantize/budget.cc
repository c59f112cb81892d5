#include "quantize/budget.h"

#include <fmt/core.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt::quantize {

Budget parse_budget(std::string_view key, std::string_view value) {
  const auto where = [&] { return fmt::format("mixed:{}", key); };
  if (key == "latency") {
    const auto share = value.ends_with("x") ? parse_double(value.substr(0, value.size() - 1)) : std::nullopt;
    if (!share || !(*share > 0 && *share <= 1))
      usage_error(fmt::format("'{}' is no share of the source's time", value), where(), "such as 0.6x");
    return {Budget::Kind::kTime, *share};
  }
  if (key == "bits") {
    const auto bits = parse_double(value);
    if (!bits || !(*bits > 0 && *bits <= 32))
      usage_error(fmt::format("'{}' is no number of bits", value), where(), "such as 4.5");
    return {Budget::Kind::kBits, *bits};
  }
  if (value.ends_with("%")) {
    const auto percent = parse_double(value.substr(0, value.size() - 1));
    if (!percent || !(*percent > 0 && *percent <= 100))
      usage_error(fmt::format("'{}' is no share of the source's size", value), where(), "such as 40%");
    return {Budget::Kind::kShare, *percent / 100};
  }
  const auto bytes = parse_bytes(value);
  if (!bytes || *bytes <= 0) usage_error(fmt::format("'{}' is no size", value), where(), "such as 40% or 30M");
  return {Budget::Kind::kBytes, static_cast<double>(*bytes)};
}

std::string to_string(const Budget& budget) {
  switch (budget.kind) {
    case Budget::Kind::kShare:
      return fmt::format("size={}%", budget.amount * 100);
    case Budget::Kind::kBytes:
      return fmt::format("size={:.0f}", budget.amount);
    case Budget::Kind::kTime:
      return fmt::format("latency={}x", budget.amount);
    default:
      return fmt::format("bits={}", budget.amount);
  }
}

}  // namespace mlopt::quantize
