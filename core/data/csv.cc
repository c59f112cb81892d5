#include "core/data/csv.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt {
namespace {

constexpr int64_t kPiece = int64_t{1} << 20;
constexpr size_t kMaxRecord = size_t{16} << 20;

}  // namespace

void for_each_record(const ByteSource& file, const std::function<void(const CsvRecord&)>& fn) {
  CsvRecord record{.text = {}, .offset = 0, .line = 1};
  int64_t line = 1;
  bool quoted = false;
  const auto finish = [&](int64_t next) {
    if (!trim(record.text).empty()) fn(record);
    record = {.text = {}, .offset = next, .line = line};
  };
  std::string piece;
  for (int64_t at = 0; at < file.size(); at += kPiece) {
    piece.resize(static_cast<size_t>(std::min(kPiece, file.size() - at)));
    file.read(at, std::as_writable_bytes(std::span(piece)));
    for (size_t i = 0; i < piece.size(); ++i) {
      const char c = piece[i];
      if (c == '"') quoted = !quoted;
      if (c == '\n') ++line;
      if (c == '\n' && !quoted) {
        finish(at + static_cast<int64_t>(i) + 1);
        continue;
      }
      if (record.text.size() == kMaxRecord) {
        input_error("a record of more than 16 MB", fmt::format("{}, line {}", file.where(), record.line),
                    "is a quote not closed?");
      }
      record.text += c;
    }
  }
  finish(file.size());
}

std::vector<std::string> csv_cells(std::string_view record, char separator) {
  if (record.starts_with("\xef\xbb\xbf")) record.remove_prefix(3);
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (size_t i = 0; i < record.size(); ++i) {
    const char c = record[i];
    if (c == '"' && quoted && i + 1 < record.size() && record[i + 1] == '"') {
      cells.back() += record[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == separator && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  for (std::string& cell : cells) cell = std::string(trim(cell));
  return cells;
}

char csv_separator(std::string_view record) {
  char best = ',';
  for (const char c : {';', '\t'}) {
    if (std::count(record.begin(), record.end(), c) > std::count(record.begin(), record.end(), best)) best = c;
  }
  return best;
}

}  // namespace mlopt
