#pragma once
#include <string>

#include "cli/command.h"
#include "core/base/error.h"

namespace mlopt::cli {

/// Writes to standard output and flushes; throws Error{kBadInput} when that fails (disk full, closed pipe).
void print(const std::string& text);
/// Writes a whole file, or to standard output for "-".
void write_text(const std::string& path, const std::string& text);
/// The text report to standard output, and the files that the common options name.
void write_reports(const Session& session);
/// {"code", "what", "where", "fix"}.
Json to_json(const Error& error);
/// The error's two lines to standard error, and {"error": ...} to the file of --json (empty: none).
void report_error(const Error& error, const std::string& json_path);

}  // namespace mlopt::cli
