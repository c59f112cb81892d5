#include <fmt/core.h>

#include <algorithm>

#include "cli/command.h"
#include "cli/commands.h"

namespace mlopt::cli {
namespace {

constexpr size_t kWidth = 100;
constexpr size_t kIndent = 26;

/// "  left      text", the text broken at spaces and indented alike.
std::string entry(const std::string& left, std::string_view text) {
  std::string out = "  " + left;
  out += out.size() + 2 <= kIndent ? std::string(kIndent - out.size(), ' ') : "\n" + std::string(kIndent, ' ');
  while (text.size() > kWidth - kIndent) {
    size_t cut = text.rfind(' ', kWidth - kIndent);
    if (cut == std::string_view::npos) cut = std::min(text.find(' '), text.size());
    out += std::string(text.substr(0, cut)) + "\n" + std::string(kIndent, ' ');
    text.remove_prefix(std::min(cut + 1, text.size()));
  }
  return out + std::string(text) + "\n";
}

std::string left_side(const Option& option) {
  if (option.positional) return option.name;
  const std::string letter = option.letter ? fmt::format("-{}, ", option.letter) : "";
  return letter + option.shown() + (option.value.empty() ? "" : " " + option.value);
}

}  // namespace

std::string command_help(const Command& command) {
  Options options(command.name);
  Common common;
  const Action unused = declare_all(command, options, common);
  std::string arguments, own, shared;
  for (const Option& option : options.all()) {
    (option.positional ? arguments : option.common ? shared : own) += entry(left_side(option), option.help);
  }
  shared += entry("-h, --help", "print this text");
  std::string text = fmt::format("mlopt {}: {}\n\nUsage: mlopt {}{}{} [options]\n", command.name, command.summary,
                                 command.name, command.arguments.empty() ? "" : " ", command.arguments);
  if (!command.alias.empty()) text += fmt::format("Also called: mlopt {}\n", command.alias);
  if (!arguments.empty()) text += "\n" + arguments;
  if (!own.empty()) text += "\nOptions:\n" + own;
  text += "\nOptions of every command:\n" + shared + "\nExamples:\n";
  for (const Example& example : command.examples)
    text += fmt::format("  mlopt {}\n      {}\n", example.line, example.what);
  return text;
}

std::string program_help() {
  std::string text =
      "mlopt: optimize, quantize and measure ONNX models\n\nUsage: mlopt COMMAND MODEL [options]\n\nCommands:\n";
  for (const Command& command : commands()) text += entry(std::string(command.name), command.summary);
  text += "\n" + entry("COMMAND --help", "the options of a command, with examples");
  text += entry("--version", "the version of the program");
  text +=
      "\nExit status: 0 done, 1 a gate does not hold, 2 wrong command line, 3 bad model or data,\n"
      "4 not possible on this machine or in this build, 70 a bug in mlopt.\n";
  return text;
}

}  // namespace mlopt::cli
