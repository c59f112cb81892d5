#include "cli/completion.h"

#include <fmt/core.h>

#include "cli/commands.h"
#include "core/base/text.h"

namespace mlopt::cli {
namespace {

/// A command with its options, as the scripts need them.
struct Entry {
  Command command;
  Options options;
};

/// Under both of its names where a command has two.
std::vector<Entry> entries() {
  std::vector<Entry> all;
  for (Command command : commands()) {
    for (const std::string_view name : {command.name, command.alias}) {
      if (name.empty()) continue;
      command.name = name;
      Entry& entry = all.emplace_back(Entry{command, Options(name)});
      Common common;
      const Action unused = declare_all(command, entry.options, common);  // only names are read afterwards
    }
  }
  return all;
}

std::string names_of(const std::vector<Entry>& entries) {
  std::vector<std::string> names;
  for (const Entry& entry : entries) names.emplace_back(entry.command.name);
  return join(names, " ");
}

/// As shell_quoted(), for zsh's _arguments, where brackets and colons mean something.
std::string zsh_quoted(const std::string& text) {
  std::string out;
  for (const char c : text) out += (c == '[' || c == ']' || c == ':' ? "\\" : "") + std::string(1, c);
  return shell_quoted(out);
}

std::string zsh_option(const Option& option) {
  const std::string help = fmt::format("[{}]", zsh_quoted(option.help).substr(1, zsh_quoted(option.help).size() - 2));
  std::string value;
  if (!option.choices.empty())
    value = fmt::format(":{}:({})", option.name, join(option.choices, " "));
  else if (!option.value.empty())
    value = fmt::format(":{}:_files", option.name);
  return fmt::format("      '--{}{}{}'", option.name, help, value);
}

}  // namespace

std::string shell_quoted(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + out + "'";
}

std::string bash_completion() {
  const std::vector<Entry> all = entries();
  std::string values, options;
  for (const Entry& entry : all) {
    const std::vector<std::string> names = entry.options.long_names();
    options += fmt::format("    {}) words={} ;;\n", entry.command.name, shell_quoted(join(names, " ")));
    for (const Option& option : entry.options.all()) {
      if (option.choices.empty()) continue;
      const std::string before = option.positional ? std::string(entry.command.name) : option.shown();
      values +=
          fmt::format("    {}:{}) words={} ;;\n", entry.command.name, before, shell_quoted(join(option.choices, " ")));
    }
  }
  return fmt::format(R"(# mlopt completion for bash: source this file, or put it into bash's completion folder
_mlopt() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}} words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{} --help --version' -- "$cur"))
    return
  fi
  case $command:$prev in
{}  esac
  if [ -z "$words" ] && [[ $cur == -* ]]; then
    case $command in
{}    esac
  fi
  if [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  else
    COMPREPLY=($(compgen -f -- "$cur"))
  fi
}}
complete -o filenames -F _mlopt mlopt)",
                     names_of(all), values, options);
}

std::string zsh_completion() {
  std::string names, cases;
  for (const Entry& entry : entries()) {
    names += fmt::format("    {}\n", zsh_quoted(fmt::format("{}", entry.command.name)) + ":" +
                                         shell_quoted(std::string(entry.command.summary)));
    cases += fmt::format("    {})\n      _arguments \\\n", entry.command.name);
    for (const Option& option : entry.options.all()) {
      if (!option.positional) cases += zsh_option(option) + " \\\n";
    }
    cases += "      '*:file:_files'\n      ;;\n";
  }
  return fmt::format(R"(#compdef mlopt
# mlopt completion for zsh: put this file as _mlopt into a folder of $fpath
_mlopt() {{
  local -a commands
  commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case ${{words[2]}} in
{}  esac
}}
compdef _mlopt mlopt)",
                     names, cases);
}

std::string fish_completion() {
  std::string lines = "# mlopt completion for fish: put this file into ~/.config/fish/completions\n";
  for (const Entry& entry : entries()) {
    lines += fmt::format("complete -c mlopt -n __fish_use_subcommand -a {} -d {}\n", entry.command.name,
                         shell_quoted(std::string(entry.command.summary)));
    for (const Option& option : entry.options.all()) {
      const std::string on = fmt::format("complete -c mlopt -n '__fish_seen_subcommand_from {}'", entry.command.name);
      if (option.positional) {
        if (!option.choices.empty()) lines += fmt::format("{} -a {}\n", on, shell_quoted(join(option.choices, " ")));
        continue;
      }
      lines += fmt::format("{} -l {} -d {}", on, option.name, shell_quoted(option.help));
      if (!option.value.empty()) lines += " -r";
      if (!option.choices.empty()) lines += fmt::format(" -f -a {}", shell_quoted(join(option.choices, " ")));
      lines += "\n";
    }
  }
  lines.pop_back();
  return lines;
}

}  // namespace mlopt::cli
