#include "cli/config.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string_view>

#include "cli/commands.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/data/unicode/utf8.h"

namespace mlopt::cli {
namespace {

/// Reads TOML line by line, each from left to right.
class Lines {
 public:
  explicit Lines(const std::string& path) : path_(path), lines_(split(read_file(path), '\n')) {}

  bool next() {
    if (number_ == lines_.size()) return false;
    rest_ = lines_[number_++];
    return true;
  }
  std::string where() const { return fmt::format("{}, line {}", path_, number_); }

  [[noreturn]] void fail(std::string_view what) const {
    usage_error(std::string(what), where(), "write options as `name = value`, strings in double quotes");
  }
  void skip_spaces() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_[0]))) rest_.remove_prefix(1);
  }
  bool take(char c) {
    skip_spaces();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// Nothing but spaces and a comment remains.
  bool at_end() {
    skip_spaces();
    return rest_.empty() || rest_[0] == '#';
  }
  std::string key() {
    skip_spaces();
    if (!rest_.empty() && (rest_[0] == '"' || rest_[0] == '\'')) return quoted();
    return bare("=]");
  }
  /// One value, or the items of an array.
  std::vector<std::string> values() {
    if (!take('[')) return {value()};
    std::vector<std::string> items;
    for (skip_lines(); !take(']'); skip_lines()) {
      items.push_back(value());
      skip_lines();
      if (!take(',') && rest_[0] != ']') fail("expected ',' or ']'");
    }
    return items;
  }

 private:
  void skip_lines() {
    while (at_end())
      if (!next()) fail("the array is not closed");
  }
  std::string value() {
    skip_spaces();
    if (!rest_.empty() && (rest_[0] == '"' || rest_[0] == '\'')) return quoted();
    return bare(",]");
  }
  std::string bare(std::string_view ends) {
    size_t n = 0;
    while (n < rest_.size() && !std::isspace(static_cast<unsigned char>(rest_[n])) && rest_[n] != '#' &&
           ends.find(rest_[n]) == std::string_view::npos) {
      ++n;
    }
    if (n == 0) fail("expected a value");
    std::string word(rest_.substr(0, n));
    rest_.remove_prefix(n);
    return word;
  }
  std::string quoted() {
    const char quote = rest_[0];
    std::string text;
    for (size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == quote) {
        rest_.remove_prefix(i + 1);
        return text;
      }
      if (quote == '"' && rest_[i] == '\\' && i + 1 < rest_.size())
        append_escaped(text, i);
      else
        text += rest_[i];
    }
    fail("the string is not closed");
  }
  /// What the backslash at `i` begins; `i` goes on to its last character.
  void append_escaped(std::string& text, size_t& i) const {
    constexpr std::string_view kLetters = "btnfr\"\\", kMeant = "\b\t\n\f\r\"\\";
    const char letter = rest_[++i];
    if (const size_t known = kLetters.find(letter); known != std::string_view::npos) {
      text += kMeant[known];
      return;
    }
    const size_t digits = letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
    const std::string_view code = rest_.substr(i + 1, digits);
    uint32_t character = 0;
    const auto [end, failure] = std::from_chars(code.data(), code.data() + code.size(), character, 16);
    if (digits == 0 || code.size() != digits || end != code.data() + digits || character > 0x10FFFF ||
        (character >= 0xD800 && character < 0xE000))
      fail("unknown escape in a string");
    unicode::append_utf8(text, character);
    i += digits;
  }

  std::string path_;
  std::vector<std::string> lines_;
  size_t number_ = 0;  // of the line that `rest_` is of, from 1
  std::string_view rest_;
};

std::optional<std::string> config_path(std::span<const std::string> args) {
  std::optional<std::string> path;
  for (size_t i = 0; i < args.size() && args[i] != "--"; ++i) {
    if (args[i] == "--config" && i + 1 < args.size()) path = args[i + 1];
    if (args[i].starts_with("--config=")) path = args[i].substr(9);
  }
  return path;
}

/// The command that a table is for, by its name or alias.
std::string_view command_of(const std::string& table, const std::string& where) {
  try {
    return find_command(table).name;
  } catch (const Error& e) {
    throw Error(e.code, e.message, where, e.fix);
  }
}

/// Their one value is a list with commas.
constexpr std::string_view kLists[] = {"LIST", "SHARES", "N,N", "FORMAT", "DEVICE"};

/// Of these the one on the command line undoes the other in the file.
constexpr std::pair<std::string_view, std::string_view> kOpposites[] = {{"quiet", "verbose"}, {"bench", "no-bench"}};

bool is_given(const Options& options, std::string_view name, std::span<const std::string> args) {
  const Option* option = options.find(name);
  return option && std::any_of(args.begin(), args.end(), [&](const std::string& word) {
           const bool letter = option->letter && word.size() > 1 && word[0] == '-' && word[1] == option->letter;
           return letter || word == option->shown() || word.starts_with(option->shown() + "=");
         });
}

bool is_overruled(const Options& options, std::string_view key, std::span<const std::string> args) {
  return is_given(options, key, args) ||
         std::any_of(std::begin(kOpposites), std::end(kOpposites), [&](const auto& pair) {
           return (key == pair.first && is_given(options, pair.second, args)) ||
                  (key == pair.second && is_given(options, pair.first, args));
         });
}

void add_words(const Options& options, const std::string& key, const std::vector<std::string>& values,
               const std::string& where, std::vector<std::string>& words) {
  const Option* option = options.find(key);
  if (!option || key == "config") {
    usage_error(fmt::format("unknown option '{}'", key), where, suggestion("--" + key, options.long_names()));
  }
  if (option->is_flag()) {
    if (values.size() != 1 || (values[0] != "true" && values[0] != "false")) {
      usage_error(fmt::format("'{}' takes true or false", key), where);
    }
    if (values[0] == "true") words.push_back(option->shown());
    return;
  }
  const bool list = std::find(std::begin(kLists), std::end(kLists), option->value) != std::end(kLists);
  if (values.size() != 1 && !option->many && !list) usage_error(fmt::format("'{}' takes one value", key), where);
  for (const std::string& value : option->many ? values : std::vector{join(values, ",")}) {
    words.push_back(option->shown());
    words.push_back(value);
  }
}

}  // namespace

std::vector<std::string> config_words(const Options& options, std::span<const std::string> args) {
  const std::optional<std::string> path = config_path(args);
  if (!path) return {};
  std::vector<std::string> words;
  std::string_view table = options.command();  // what stands before the first is for every command
  Lines lines(*path);
  while (lines.next()) {
    if (lines.at_end()) continue;
    const std::string where = lines.where();
    if (lines.take('[')) {
      const std::string name = lines.key();
      if (!lines.take(']') || !lines.at_end()) lines.fail("a table's name must stand alone in brackets");
      table = command_of(name, where);
      continue;
    }
    const std::string key = lines.key();
    if (!lines.take('=')) lines.fail("expected '='");
    const std::vector<std::string> values = lines.values();
    if (!lines.at_end()) lines.fail("text after the value");
    std::vector<std::string> read;
    if (table == options.command()) add_words(options, key, values, where, read);
    if (!is_overruled(options, key, args)) words.insert(words.end(), read.begin(), read.end());
  }
  return words;
}

}  // namespace mlopt::cli
