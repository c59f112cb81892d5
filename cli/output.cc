#include "cli/output.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "core/base/file.h"

namespace mlopt::cli {
namespace {

/// Where a path leads, through links; empty for what is no file.
std::filesystem::path real_path(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code failure;
  const fs::file_status status = fs::status(path, failure);
  if (path.empty() || path == "-" || (fs::exists(status) && !fs::is_regular_file(status))) return {};
  const fs::path whole = fs::absolute(path, failure);
  return failure ? fs::path() : fs::weakly_canonical(whole, failure);
}

/// Even where nothing else is printed, a status of 1 has its reason.
void report_failing_gates(const Report& report) {
  for (const Gate& gate : report.gates)
    if (!gate.holds) write_stderr(to_text(gate));
}

bool goes_to_stdout(const std::string& option) {
  constexpr std::string_view kTexts[] = {"output", "json", "markdown", "junit", "csv", "html"};
  return std::find(std::begin(kTexts), std::end(kTexts), option) != std::end(kTexts);
}

void require_different(const Option& a, const Option& b) {
  for (const std::string& one : a.given) {
    for (const std::string& other : b.given) {
      if (same_file(one, other))
        usage_error(fmt::format("{} and {} name the same file", a.shown(), b.shown()), one, "name another file");
    }
  }
}

}  // namespace

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  input_error(fmt::format("cannot write ({})", std::strerror(errno)), "standard output",
              "is there space, and is the program that reads it still there?");
}

void write_text(const std::string& path, const std::string& text) {
  if (path == "-") return print(text);
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

void write_reports(const Session& session) {
  const Common& common = session.common;
  if (!common.json.empty()) write_text(common.json, to_json(session.report));
  if (!common.markdown.empty()) write_text(common.markdown, to_markdown(session.report));
  if (!common.junit.empty()) write_text(common.junit, to_junit(session.report));
  if (common.quiet) return report_failing_gates(session.report);
  const std::string text = to_text(session.report);
  if (session.stdout_owner.empty()) print(text);
  // A model on standard output leaves the report to standard error; a report there replaces it.
  else if (session.stdout_owner == "-o -")
    write_stderr(text);
}

bool same_file(const std::string& a, const std::string& b) {
  const std::filesystem::path real = real_path(a);
  return !real.empty() && real == real_path(b);
}

void check_written_files(const Options& options) {
  for (const Option& written : options.all()) {
    if (!written.writes) continue;
    const std::vector<std::string>& paths = written.given;
    if (std::find(paths.begin(), paths.end(), "-") != paths.end() && !goes_to_stdout(written.name))
      usage_error("what is written cannot go to standard output", written.shown(), "name a file");
    for (const Option& other : options.all()) {
      const bool replaces = other.positional && written.name == "output";
      if (&other != &written && (other.reads || other.writes) && !replaces) require_different(written, other);
    }
  }
}

void require_writable_files(const Options& options) {
  for (const Option& option : options.all()) {
    if (!option.writes) continue;
    for (const std::string& path : option.given)
      if (!path.empty() && path != "-") require_writable(path);
  }
}

Json to_json(const Error& error) {
  return Json::object(
      {{"code", static_cast<int>(error.code)}, {"what", error.message}, {"where", error.where}, {"fix", error.fix}});
}

void report_error(const Error& error, const std::string& json_path) {
  write_stderr(fmt::format("{}\n", error.what()));
  if (json_path.empty()) return;
  try {
    write_text(json_path, Json::object({{"error", to_json(error)}}).dump() + "\n");
  } catch (const Error& e) {
    // Where the report itself could not be written, that has been said.
    if (e.where != error.where) write_stderr(fmt::format("{}\n", e.what()));
  }
}

}  // namespace mlopt::cli
