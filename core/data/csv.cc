#include "core/data/csv.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt {
namespace {

constexpr int64_t kPiece = int64_t{1} << 20;
constexpr size_t kMaxRecord = size_t{16} << 20;

/// Is a place in a record inside quotes? A quote opens a cell's text only where nothing but spaces stands before it, so
/// that an inch or a quotation inside a text is a character.
class Quotes {
 public:
  /// `separator`: 0 while it is not known, then any that may be.
  void see(char c, char separator) {
    const bool again = closed_ && c == '"';  // of two quotes in a row
    closed_ = inside_ && c == '"';
    if (inside_) {
      inside_ = !closed_;
    } else if (c == '"' && (blank_ || again)) {
      inside_ = true;
      blank_ = false;
    } else if (separator ? c == separator : c == ',' || c == ';' || c == '\t') {
      blank_ = true;
    } else if (c != ' ' && c != '\t') {
      blank_ = false;
    }
  }
  bool inside() const { return inside_; }

 private:
  bool inside_ = false, closed_ = false, blank_ = true;
};

/// The bytes that a file of UTF-8 may begin with.
int64_t mark_bytes(const ByteSource& file) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  std::string start(static_cast<size_t>(std::min<int64_t>(std::ssize(kMark), file.size())), '\0');
  file.read(0, std::as_writable_bytes(std::span(start)));
  return start == kMark ? std::ssize(kMark) : 0;
}

}  // namespace

void for_each_record(const ByteSource& file, const std::function<void(const CsvRecord&)>& fn) {
  const int64_t begin = mark_bytes(file);
  CsvRecord record{.text = {}, .offset = begin, .line = 1};
  int64_t line = 1;
  char separator = 0;
  Quotes quotes;
  const auto finish = [&](int64_t next) {
    const bool blank = trim(record.text).empty();
    if (!blank && separator == 0) separator = csv_separator(record.text);
    if (!blank) fn(record);
    quotes = {};
    record = {.text = {}, .offset = next, .line = line};
  };
  std::string piece;
  for (int64_t at = begin; at < file.size(); at += kPiece) {
    piece.resize(static_cast<size_t>(std::min(kPiece, file.size() - at)));
    file.read(at, std::as_writable_bytes(std::span(piece)));
    for (size_t i = 0; i < piece.size(); ++i) {
      const char c = piece[i];
      quotes.see(c, separator);
      if (c == '\n') ++line;
      if (c == '\n' && !quotes.inside()) {
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
  if (record.ends_with('\r')) record.remove_suffix(1);
  std::vector<std::string> cells(1);
  Quotes quotes;
  std::optional<size_t> quoted;  // the size of the cell at its last quote
  const auto finish = [&] {
    std::string& cell = cells.back();
    if (quoted && trim(std::string_view(cell).substr(*quoted)).empty()) cell.resize(*quoted);
    quoted.reset();
  };
  for (const char c : record) {
    const bool before = quotes.inside();
    quotes.see(c, separator);
    if (before != quotes.inside()) {
      if (!before && quoted) cells.back() += c;  // the second of two
      if (!quoted) cells.back().clear();
      quoted = cells.back().size();
    } else if (c == separator && !before) {
      finish();
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  finish();
  return cells;
}

std::vector<std::string> csv_words(std::string_view record, char separator) {
  std::vector<std::string> cells = csv_cells(record, separator);
  for (std::string& cell : cells) cell = std::string(trim(cell));
  return cells;
}

char csv_separator(std::string_view record) {
  std::string outside;  // of quotes
  Quotes quotes;
  for (const char c : record) {
    quotes.see(c, 0);
    if (!quotes.inside()) outside += c;
  }
  char best = ',';
  for (const char c : {';', '\t'}) {
    if (std::count(outside.begin(), outside.end(), c) > std::count(outside.begin(), outside.end(), best)) best = c;
  }
  return best;
}

}  // namespace mlopt
