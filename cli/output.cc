#include "cli/output.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/base/file.h"

namespace mlopt::cli {

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
  if (common.quiet) return;
  const std::string text = to_text(session.report);
  if (session.stdout_owner.empty()) print(text);
  // A model on standard output leaves the report to standard error; a report there replaces it.
  else if (session.stdout_owner == "-o -")
    fmt::print(stderr, "{}", text);
}

Json to_json(const Error& error) {
  return Json::object(
      {{"code", static_cast<int>(error.code)}, {"what", error.message}, {"where", error.where}, {"fix", error.fix}});
}

void report_error(const Error& error, const std::string& json_path) {
  fmt::print(stderr, "{}\n", error.what());
  if (json_path.empty()) return;
  try {
    write_text(json_path, Json::object({{"error", to_json(error)}}).dump() + "\n");
  } catch (const Error& e) {
    // Where the report itself could not be written, that has been said.
    if (e.where != error.where) fmt::print(stderr, "{}\n", e.what());
  }
}

}  // namespace mlopt::cli
