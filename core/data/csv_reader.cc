#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/csv.h"
#include "core/data/reader.h"

namespace mlopt {
namespace {

std::optional<double> number(const std::string& cell) {
  return parse_double(starts_with(cell, "+") ? cell.substr(1) : cell);
}

/// Which columns are what.
struct Columns {
  std::vector<std::string> names;  ///< of all columns; empty without a header
  size_t count = 0;
  std::vector<size_t> features;
  std::optional<size_t> label;
};

std::string shown(const Columns& columns, size_t i) {
  return columns.names.empty() ? fmt::format("{}", i) : columns.names[i];
}

size_t find_column(const Columns& columns, const std::string& text, const std::string& where) {
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

bool is_row_number(const std::string& name) {
  std::string lower;
  for (const char c : name) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return lower.empty() || lower == "id" || lower == "index";
}

/// Numbers that the model takes for one sample; nothing when its shape leaves that open.
std::optional<int64_t> width_of(const InputSpec& input) {
  int64_t width = 1;
  for (size_t d = input.dims.size() > 1 ? 1 : 0; d < input.dims.size(); ++d) {
    const auto size = input.dims[d].value();
    if (!size || *size < 1 || *size > (1 << 24)) return std::nullopt;
    width *= *size;
    if (width > (1 << 24)) return std::nullopt;
  }
  return width;
}

/// A first row with a word where a feature stands is a header; words may stand in columns that are no features.
bool has_header(const std::vector<std::string>& first, const DataSpec& spec) {
  std::vector<std::string> others = spec.ignore;
  if (spec.label_column != "none") others.push_back(spec.label_column.empty() ? "-1" : spec.label_column);
  std::set<int64_t> skipped;
  for (const std::string& column : others) {
    const auto index = parse_int(column);
    if (!index) return true;  // named columns need a header
    skipped.insert(*index < 0 ? *index + static_cast<int64_t>(first.size()) : *index);
  }
  for (size_t i = 0; i < first.size(); ++i) {
    if (!number(first[i]) && !skipped.count(static_cast<int64_t>(i))) return true;
  }
  return false;
}

Columns choose_columns(const std::vector<std::string>& first, const DataSpec& spec, const InputSpec& input) {
  Columns columns{.names = {}, .count = first.size(), .features = {}, .label = {}};
  if (has_header(first, spec)) columns.names = first;
  std::set<size_t> taken;
  for (const std::string& text : spec.ignore) taken.insert(find_column(columns, text, spec.path));
  if (spec.label_column != "none") {
    columns.label = spec.label_column.empty() ? first.size() - 1 : find_column(columns, spec.label_column, spec.path);
    taken.insert(*columns.label);
  }
  for (size_t i = 0; i < first.size(); ++i) {
    if (!taken.count(i)) columns.features.push_back(i);
  }
  // A column that only numbers the rows is not a feature, where the model has no room for it.
  const auto width = width_of(input);
  if (width && static_cast<int64_t>(columns.features.size()) == *width + 1 && !columns.names.empty() &&
      is_row_number(columns.names[columns.features[0]])) {
    columns.features.erase(columns.features.begin());
  }
  if (columns.features.empty() || (width && static_cast<int64_t>(columns.features.size()) != *width)) {
    std::vector<std::string> texts;
    for (const size_t i : columns.features) texts.push_back(shown(columns, i));
    input_error(fmt::format("{} columns of features ({}); the model takes {}", texts.size(), join(texts, ", "),
                            to_string({input})),
                spec.path, "name the columns that are none: label=COLUMN, ignore=COLUMN/COLUMN");
  }
  return columns;
}

/// Rows by their place in the file, and all labels (8 bytes each): features are read when they are asked for.
class CsvReader final : public Reader {
 public:
  CsvReader(const DataSpec& spec, const std::vector<InputSpec>& inputs)
      : file_(open_source(spec.path)), input_(only_input(inputs, spec.path)) {
    std::vector<std::string> labels;
    for_each_record(*file_, [&](const CsvRecord& record) {
      if (columns_.count == 0) {
        separator_ = csv_separator(record.text);
        columns_ = choose_columns(csv_cells(record.text, separator_), spec, input_);
        if (!columns_.names.empty()) return;
      }
      rows_.push_back({record.offset, record.line, static_cast<int64_t>(record.text.size())});
      const std::vector<std::string> cells = checked_cells(record.text, rows_.back());
      if (columns_.label) labels.push_back(cells[*columns_.label]);
    });
    if (rows_.empty()) input_error("the file has no rows", spec.path, "give a file with a row for each sample");
    index_labels(labels);
  }

  int64_t size() const override { return static_cast<int64_t>(rows_.size()); }
  bool labelled() const override { return columns_.label.has_value(); }
  std::string name_of(int64_t i) const override { return name_of(rows_[static_cast<size_t>(i)]); }
  std::optional<int64_t> class_of(int64_t i) const override {
    if (!labelled() || !classes_) return std::nullopt;
    return static_cast<int64_t>(labels_[static_cast<size_t>(i)]);
  }

  RawSample read(int64_t i) const override {
    const Row& row = rows_[static_cast<size_t>(i)];
    std::string text(static_cast<size_t>(row.bytes), '\0');
    file_->read(row.offset, std::as_writable_bytes(std::span(text)));
    const std::vector<std::string> cells = checked_cells(text, row);
    std::vector<double> values;
    for (const size_t column : columns_.features) {
      const auto value = number(cells[column]);
      if (!value || !std::isfinite(*value)) {
        input_error(fmt::format("'{}' in column '{}' is not a finite number", cells[column], shown(columns_, column)),
                    name_of(row), "mend the cell, or leave the column out with ignore=");
      }
      values.push_back(*value);
    }
    RawSample sample;
    sample.arrays.emplace_back("", Tensor::of<double>({static_cast<int64_t>(values.size())}, values));
    if (!labelled()) return sample;
    const double label = labels_[static_cast<size_t>(i)];
    sample.label = classes_ ? Tensor::scalar(static_cast<int64_t>(label)) : Tensor::scalar(static_cast<float>(label));
    return sample;
  }

 private:
  struct Row {
    int64_t offset, line, bytes;
  };

  std::string name_of(const Row& row) const { return fmt::format("{}, line {}", file_->where(), row.line); }

  std::vector<std::string> checked_cells(const std::string& text, const Row& row) const {
    std::vector<std::string> cells = csv_cells(text, separator_);
    if (cells.size() != columns_.count) {
      input_error(fmt::format("{} cells, the first row has {}", cells.size(), columns_.count), name_of(row),
                  "mend the row");
    }
    return cells;
  }

  /// Integers are classes, other numbers are targets, words are classes in sorted order.
  void index_labels(const std::vector<std::string>& texts) {
    bool numbers = true;
    for (const std::string& text : texts) {
      const auto value = number(text);
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
    for (const std::string& text : texts) labels_.push_back(numbers ? *number(text) : words[text]);
  }

  Source file_;
  InputSpec input_;
  char separator_ = ',';
  Columns columns_;
  std::vector<Row> rows_;
  std::vector<double> labels_;
  bool classes_ = true;
};

}  // namespace

ReaderPtr csv_reader(const DataSpec& spec, const std::vector<InputSpec>& inputs) {
  return std::make_unique<CsvReader>(spec, inputs);
}

}  // namespace mlopt
