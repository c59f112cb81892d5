#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/data/byte_source.h"
#include "core/data/reader.h"

namespace mlopt {

/// The columns of a table.
struct TableColumns {
  std::vector<std::string> names;  ///< of all columns; empty without a header
  size_t count = 0;
  std::optional<size_t> label;
};

/// The number that a cell holds.
std::optional<double> cell_number(const std::string& cell);
/// The name of column i, or i where there are no names.
std::string shown(const TableColumns& columns, size_t i);
/// The column of this name or index (from 0, negative: from the end); throws Error{kBadInput} with a suggestion.
size_t find_column(const TableColumns& columns, const std::string& text, const std::string& where);

/// A CSV file with a row for each sample: rows by their place in the file, and all labels (8 bytes each). Cells are
/// read when they are asked for.
class CsvTable {
 public:
  /// `columns_of` is told the first row and says what the columns are; with names the row is a header, no sample.
  /// Throws Error{kBadInput} for rows of another size and for missing labels.
  using ColumnsOf = std::function<TableColumns(const std::vector<std::string>& first)>;
  /// `is_header` sees the first row and all labels, where the first look at it found no header.
  using IsHeader = std::function<bool(const std::vector<std::string>& first, const std::vector<std::string>& labels)>;
  CsvTable(const std::string& path, const ColumnsOf& columns_of, const IsHeader& is_header = {});

  const TableColumns& columns() const { return columns_; }
  int64_t size() const { return static_cast<int64_t>(rows_.size()); }
  std::vector<std::string> cells(int64_t i) const;
  /// "t.csv, line 7".
  std::string name_of(int64_t i) const { return name_of(rows_[static_cast<size_t>(i)]); }
  /// Integers as they are, words numbered in sorted order; nothing where labels are missing or no classes.
  std::optional<int64_t> class_of(int64_t i) const;
  /// A class (int64) or a target (float32); only of labelled tables.
  Tensor label(int64_t i) const;

 private:
  struct Row {
    int64_t offset, line, bytes;
  };

  std::string name_of(const Row& row) const;
  std::vector<std::string> checked_cells(const std::string& text, const Row& row) const;
  void index_labels(const std::vector<std::string>& texts);

  Source file_;
  char separator_ = ',';
  TableColumns columns_;
  std::vector<Row> rows_;
  std::vector<double> labels_;
  bool classes_ = true;
};

}  // namespace mlopt
