#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mlopt::cli {

/// One option or positional argument of a command.
struct Option {
  std::string name;                  ///< "data" for --data; "MODEL" for a positional
  char letter = 0;                   ///< 'o' for -o
  std::string value;                 ///< stands for its value in the help text ("SPEC"); empty for a flag
  std::string help;                  ///< one or two sentences without a full stop
  std::vector<std::string> choices;  ///< the legal values, when they are a fixed list
  bool positional = false;
  bool required = false;
  bool many = false;                    ///< may be given again
  bool common = false;                  ///< belongs to every command
  bool alone = false;                   ///< a flag that asks for something else: nothing else is required beside it
  bool reads = false;                   ///< names models
  bool writes = false;                  ///< names a file to write
  bool trains = false;                  ///< says how a training goes
  std::vector<std::string> given = {};  ///< its values, once parsed; of a flag "true"
  std::function<void(const std::string&)> store;

  bool is_flag() const { return value.empty() && !positional; }
  /// "--data" or "MODEL", for messages.
  std::string shown() const { return positional ? name : "--" + name; }
};

/// The text as a T (std::string, int, int64_t, uint64_t, double); throws Error{kUsage} saying what was expected.
template <class T>
T parse_value(const std::string& text);

/// What a command accepts: declared once, then used to parse, to print help, to complete and to suggest.
class Options {
 public:
  explicit Options(std::string_view command) : command_(command) {}
  const std::string& command() const { return command_; }

  /// `flags` is "--name" or "-n,--name"; `into` (also an optional or a vector of a parsed type) outlives the parse.
  template <class T>
  Option& add(std::string_view flags, T& into, std::string_view value, std::string_view help) {
    return declare(flags, value, help, [&into](const std::string& text) { into = parse_value<T>(text); });
  }
  template <class T>
  Option& add(std::string_view flags, std::optional<T>& into, std::string_view value, std::string_view help) {
    return declare(flags, value, help, [&into](const std::string& text) { into = parse_value<T>(text); });
  }
  template <class T>
  Option& add(std::string_view flags, std::vector<T>& into, std::string_view value, std::string_view help) {
    Option& option =
        declare(flags, value, help, [&into](const std::string& text) { into.push_back(parse_value<T>(text)); });
    option.many = true;
    return option;
  }
  /// A flag: present or not.
  Option& add(std::string_view flags, bool& into, std::string_view help);
  /// Positional arguments, which must be given, in the order of their declaration; a vector takes all that remain.
  Option& positional(std::string_view name, std::string& into, std::string_view help);
  Option& positional(std::string_view name, std::vector<std::string>& into, std::string_view help);

  /// Everything declared from the `first`-th on belongs to every command.
  void mark_common(size_t first);

  const std::deque<Option>& all() const { return options_; }
  std::deque<Option>& all() { return options_; }
  const Option* find(std::string_view name) const;
  /// "--data", "--json", ...: for suggestions.
  std::vector<std::string> long_names() const;

 private:
  Option& declare(std::string_view flags, std::string_view value, std::string_view help,
                  std::function<void(const std::string&)> store);

  std::string command_;
  std::deque<Option> options_;  // a deque: declare() hands out references
};

/// Parses what follows the command's name. Throws Error{kUsage}, with a suggestion for a mistyped option or choice.
void parse(Options& options, std::span<const std::string> args);

}  // namespace mlopt::cli
