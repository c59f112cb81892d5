#include "cli/options.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt::cli {
namespace {

template <class T>
T parse_whole(const std::string& text) {
  const std::optional<int64_t> number = parse_int(text);
  if (!number) usage_error(fmt::format("'{}' is not a whole number", text));
  const bool fits = std::is_signed_v<T> ? *number >= static_cast<int64_t>(std::numeric_limits<T>::min()) : *number >= 0;
  if (!fits || (sizeof(T) < sizeof(int64_t) && *number > static_cast<int64_t>(std::numeric_limits<T>::max()))) {
    usage_error(fmt::format("{} is out of range", text));
  }
  return static_cast<T>(*number);
}

}  // namespace

template <>
std::string parse_value<std::string>(const std::string& text) {
  return text;
}
template <>
int parse_value<int>(const std::string& text) {
  return parse_whole<int>(text);
}
template <>
int64_t parse_value<int64_t>(const std::string& text) {
  return parse_whole<int64_t>(text);
}
template <>
uint64_t parse_value<uint64_t>(const std::string& text) {
  return parse_whole<uint64_t>(text);
}
template <>
double parse_value<double>(const std::string& text) {
  const std::optional<double> number = parse_double(text);
  if (!number || std::isnan(*number)) usage_error(fmt::format("'{}' is not a number", text));
  return *number;
}

Option& Options::declare(std::string_view flags, std::string_view value, std::string_view help,
                         std::function<void(const std::string&)> store) {
  Option option;
  if (flags.size() > 3 && flags[2] == ',') {
    option.letter = flags[1];
    flags.remove_prefix(3);
  }
  option.name = flags.substr(2);
  option.value = value;
  option.help = help;
  option.store = std::move(store);
  if (find(option.name)) internal_error("option declared twice", std::string(flags));
  return options_.emplace_back(std::move(option));
}

Option& Options::add(std::string_view flags, bool& into, std::string_view help) {
  return declare(flags, "", help, [&into](const std::string& text) { into = text != "false"; });
}

Option& Options::positional(std::string_view name, std::string& into, std::string_view help) {
  Option& option = options_.emplace_back();
  option.name = name;
  option.help = help;
  option.positional = option.required = option.reads = true;
  option.store = [&into](const std::string& text) { into = text; };
  return option;
}

Option& Options::positional(std::string_view name, std::vector<std::string>& into, std::string_view help) {
  Option& option = options_.emplace_back();
  option.name = name;
  option.help = help;
  option.positional = option.many = option.required = option.reads = true;
  option.store = [&into](const std::string& text) { into.push_back(text); };
  return option;
}

void Options::mark_common(size_t first) {
  for (size_t i = first; i < options_.size(); ++i) options_[i].common = true;
}

const Option* Options::find(std::string_view name) const {
  const auto found =
      std::find_if(options_.begin(), options_.end(), [&](const Option& o) { return !o.positional && o.name == name; });
  return found == options_.end() ? nullptr : &*found;
}

std::vector<std::string> Options::long_names() const {
  std::vector<std::string> names = {"--help"};
  for (const Option& option : options_) {
    if (!option.positional) names.push_back("--" + option.name);
  }
  return names;
}

}  // namespace mlopt::cli
