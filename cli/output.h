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
/// Is it one file that both paths lead to? Standard output, devices and pipes are none.
bool same_file(const std::string& a, const std::string& b);
/// Throws Error{kUsage} when two options would write one file, or one writes a model that is read; the model that a
/// command writes may replace its source.
void check_written_files(const Options& options);
/// Throws Error{kBadInput} when a file that is to be written cannot be.
void require_writable_files(const Options& options);
/// {"code", "what", "where", "fix"}.
Json to_json(const Error& error);
/// The error's two lines to standard error, and {"error": ...} to the file of --json (empty: none).
void report_error(const Error& error, const std::string& json_path);

}  // namespace mlopt::cli
