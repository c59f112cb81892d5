#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/config.h"
#include "cli/options.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt::cli {
namespace {

/// Stores one value; errors of its own say which option they are about.
void store(const Option& option, const std::string& value) {
  if (!option.choices.empty() &&
      std::find(option.choices.begin(), option.choices.end(), value) == option.choices.end()) {
    usage_error(fmt::format("unknown value '{}'", value), option.shown(), suggestion(value, option.choices));
  }
  if (value.empty() && (option.many || option.positional)) usage_error("an empty value", option.shown());
  try {
    option.store(value);
  } catch (const Error& e) {
    if (e.code != Code::kUsage || !e.where.empty()) throw;
    usage_error(e.message, option.shown(), e.fix);
  }
}

CLI::callback_t callback(Option& option) {
  return [&option](const CLI::results_t& values) {
    option.given = values;
    for (const std::string& value : values) store(option, value);
    return true;
  };
}

void declare(CLI::App& app, Option& option, bool require) {
  std::string names = option.shown();
  if (option.letter) names = fmt::format("-{},{}", option.letter, names);
  if (option.is_flag()) {
    app.add_flag_callback(names, [&option] {
      option.given = {"true"};
      option.store("true");
    });
    return;
  }
  CLI::Option* added = app.add_option(names, callback(option));
  added->type_name(option.value)->required(option.required && require);
  if (option.positional && option.many) {
    added->expected(0, CLI::detail::expected_max_vector_size)->allow_extra_args(true);
  } else {
    added->expected(1)->allow_extra_args(false);
    added->multi_option_policy(option.many ? CLI::MultiOptionPolicy::TakeAll : CLI::MultiOptionPolicy::TakeLast);
  }
}

[[noreturn]] void reject_unknown(const Options& options, const std::string& word) {
  if (word.size() > 1 && word[0] == '-') {
    const std::string name = word.substr(0, word.find('='));
    usage_error(fmt::format("unknown option '{}'", name), {}, suggestion(name, options.long_names()));
  }
  usage_error(fmt::format("unexpected argument '{}'", word), {}, "quote names that contain spaces, or see --help");
}

/// Is one of the flags given that want nothing beside them?
bool has_lone_flag(const Options& options, std::span<const std::string> words) {
  return std::any_of(options.all().begin(), options.all().end(), [&](const Option& option) {
    return option.alone && std::find(words.begin(), words.end(), option.shown()) != words.end();
  });
}

/// "--data=" would otherwise take the next word as its value, and "--quiet=5" be taken for "--quiet".
void reject_odd_values(const Options& options, std::span<const std::string> args) {
  for (const std::string& word : args) {
    if (word == "--") return;
    const size_t at = word.find('=');
    if (!word.starts_with("--") || at == std::string::npos) continue;
    const std::string name = word.substr(0, at);
    const Option* option = options.find(std::string_view(name).substr(2));
    if (option && option->is_flag())
      usage_error("the option takes no value", name, fmt::format("write {} alone", name));
    if (at + 1 == word.size()) usage_error("the option has no value", name);
  }
}

}  // namespace

void parse(Options& options, std::span<const std::string> args) {
  reject_odd_values(options, args);
  std::vector<std::string> words = config_words(options, args);
  words.insert(words.end(), args.begin(), args.end());
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  const bool require = !has_lone_flag(options, words);
  for (Option& option : options.all()) declare(app, option, require);
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  const auto remaining = [&] {
    for (const std::string& word : app.remaining()) {
      if (word != "--") reject_unknown(options, word);
    }
  };
  try {
    app.parse(words);
  } catch (const CLI::ParseError& e) {
    remaining();
    usage_error(e.what(), {}, "see --help");
  }
  remaining();
}

}  // namespace mlopt::cli
