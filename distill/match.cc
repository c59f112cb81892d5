#include "distill/match.h"

#include <fmt/core.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt::distill {
namespace {

double parse_weight(const std::string& text, const char* option) {
  const auto weight = parse_double(text);
  if (!weight || !(*weight >= 0)) usage_error(fmt::format("'{}' is no weight of at least 0", text), option);
  return *weight;
}

/// "key=value", split at the first equals sign.
std::pair<std::string, std::string> parse_entry(const std::string& text, const char* option) {
  const size_t at = text.find('=');
  if (at == std::string::npos || at + 1 == text.size())
    usage_error(fmt::format("'{}' is no KEY=VALUE", text), option, "see --help");
  return {std::string(trim(text.substr(0, at))), std::string(trim(text.substr(at + 1)))};
}

}  // namespace

Match parse_match(const std::string& text) {
  const char* kOption = "--match";
  const std::vector<std::string> keys = {"t", "s", "loss", "w"};
  Match match;
  for (const std::string& piece : split(text, ',')) {
    const auto [key, value] = parse_entry(piece, kOption);
    if (key == "t")
      match.teacher = value;
    else if (key == "s")
      match.student = value;
    else if (key == "loss")
      match.loss = &find_loss(value, kOption);
    else if (key == "w")
      match.weight = parse_weight(value, kOption);
    else
      usage_error(fmt::format("a pair has no '{}'", key), kOption, suggestion(key, keys));
  }
  if (match.teacher.empty()) match.teacher = match.student;
  if (match.student.empty()) match.student = match.teacher;
  if (match.teacher.empty()) usage_error("a pair needs names", kOption, "t=NAME,s=NAME,loss=LOSS");
  if (!match.loss) usage_error("a pair needs a loss", kOption, "t=NAME,s=NAME,loss=LOSS");
  return match;
}

std::map<std::string, double> parse_weights(const std::vector<std::string>& items) {
  const char* kOption = "--weights";
  std::map<std::string, double> weights;
  for (const std::string& item : items) {
    const auto [name, value] = parse_entry(item, kOption);
    if (name != "hard") find_loss(name, kOption);
    weights[name] = parse_weight(value, kOption);
  }
  return weights;
}

}  // namespace mlopt::distill
