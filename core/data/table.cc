#include "core/data/table.h"

#include <fmt/core.h>

#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/csv.h"

namespace mlopt {

std::optional<double> cell_number(const std::string& cell) {
  const std::string_view text = trim(cell);
  return parse_double(text.starts_with("+") ? text.substr(1) : text);
}

std::string shown(const TableColumns& columns, size_t i) {
  return columns.names.empty() ? fmt::format("{}", i) : columns.names[i];
}

size_t find_column(const TableColumns& columns, const std::string& text, const std::string& where) {
  for (size_t i = 0; i < columns.names.size(); ++i) {
    if (columns.names[i] == text) return i;
  }
  const auto size = static_cast<int64_t>(columns.count);
  const auto index = parse_int(text);
  if (index && *index >= -size && *index < size) return static_cast<size_t>(*index < 0 ? *index + size : *index);
  input_error(
      fmt::format("no column '{}' among {}", text, columns.count), where,
      columns.names.empty() ? fmt::format("give an index from 0 to {}", size - 1) : suggestion(text, columns.names));
}

CsvTable::CsvTable(const std::string& path, const ColumnsOf& columns_of, const IsHeader& is_header)
    : file_(open_source(path)) {
  std::vector<std::string> labels;
  for_each_record(*file_, [&](const CsvRecord& record) {
    if (columns_.count == 0) {
      separator_ = csv_separator(record.text);
      columns_ = columns_of(csv_words(record.text, separator_));
      if (!columns_.names.empty()) return;
    }
    rows_.push_back({record.offset, record.line, static_cast<int64_t>(record.text.size())});
    const std::vector<std::string> cells = checked_cells(record.text, rows_.back());
    if (columns_.label) labels.emplace_back(trim(cells[*columns_.label]));
  });
  std::vector<std::string> first = is_header && !rows_.empty() ? cells(0) : std::vector<std::string>();
  for (std::string& cell : first) cell = std::string(trim(cell));
  if (columns_.names.empty() && !first.empty() && is_header(first, labels)) {
    columns_.names = std::move(first);
    rows_.erase(rows_.begin());
    if (!labels.empty()) labels.erase(labels.begin());
  }
  if (rows_.empty()) input_error("the file has no rows", path, "give a file with a row for each sample");
  index_labels(labels);
}

std::vector<std::string> CsvTable::cells(int64_t i) const {
  const Row& row = rows_[static_cast<size_t>(i)];
  std::string text(static_cast<size_t>(row.bytes), '\0');
  file_->read(row.offset, std::as_writable_bytes(std::span(text)));
  return checked_cells(text, row);
}

std::optional<int64_t> CsvTable::class_of(int64_t i) const {
  if (!columns_.label || !classes_) return std::nullopt;
  return static_cast<int64_t>(labels_[static_cast<size_t>(i)]);
}

Tensor CsvTable::label(int64_t i) const {
  const double label = labels_[static_cast<size_t>(i)];
  return classes_ ? Tensor::scalar(static_cast<int64_t>(label)) : Tensor::scalar(static_cast<float>(label));
}

std::string CsvTable::name_of(const Row& row) const { return fmt::format("{}, line {}", file_->where(), row.line); }

std::vector<std::string> CsvTable::checked_cells(const std::string& text, const Row& row) const {
  std::vector<std::string> cells = csv_cells(text, separator_);
  if (cells.size() != columns_.count) {
    input_error(fmt::format("{} cells, the first row has {}", cells.size(), columns_.count), name_of(row),
                "mend the row");
  }
  return cells;
}

/// Integers are classes, other numbers are targets, words are classes in sorted order.
void CsvTable::index_labels(const std::vector<std::string>& texts) {
  bool numbers = true;
  for (const std::string& text : texts) {
    const auto value = cell_number(text);
    numbers = numbers && value && std::isfinite(*value);
    classes_ = classes_ && value && *value == std::floor(*value) && std::abs(*value) < 1e15;
    if (text.empty()) {
      const auto i = static_cast<size_t>(&text - texts.data());
      input_error("the label is missing", name_of(rows_[i]), "mend the row, or take it out");
    }
  }
  std::map<std::string, double> words;
  if (!numbers) {
    classes_ = true;
    for (const std::string& text : texts) words[text] = 0;
    double next = 0;
    for (auto& [word, index] : words) index = next++;
  }
  for (const std::string& text : texts) labels_.push_back(numbers ? *cell_number(text) : words[text]);
}

}  // namespace mlopt
