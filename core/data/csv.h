#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/byte_source.h"

namespace mlopt {

/// A record of a CSV file (RFC 4180: quoted cells may hold separators, line ends and doubled quotes).
struct CsvRecord {
  std::string text;
  int64_t offset = 0;  ///< of its first byte in the file
  int64_t line = 0;    ///< from 1
};

/// Calls fn for every record that is not blank, in order, reading the file in pieces; the mark that a file of UTF-8 may
/// begin with is no part of any. A record of more than 16 MB is an Error{kBadInput}.
void for_each_record(const ByteSource& file, const std::function<void(const CsvRecord&)>& fn);
/// Cells as they are, without the quotes and the spaces around quotes.
std::vector<std::string> csv_cells(std::string_view record, char separator);
/// Cells without the spaces around what they say.
std::vector<std::string> csv_words(std::string_view record, char separator);
/// The one of , ; and tab that the first record has most often outside of quotes.
char csv_separator(std::string_view record);

}  // namespace mlopt
