#include <fmt/core.h>

#include <cmath>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/reader.h"
#include "core/data/table.h"

namespace mlopt {
namespace {

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

/// A first row with words where the features stand is a header; words may stand in columns that are no features. One
/// with both words and numbers there would be a sample that is lost, unless the numbers count the columns (pandas).
bool has_header(const std::vector<std::string>& first, const DataSpec& spec) {
  std::vector<std::string> others = spec.ignore;
  if (spec.label_column != "none") others.push_back(spec.label_column.empty() ? "-1" : spec.label_column);
  std::set<int64_t> skipped;
  for (const std::string& column : others) {
    const auto index = parse_int(column);
    if (!index) return true;  // named columns need a header
    skipped.insert(*index < 0 ? *index + static_cast<int64_t>(first.size()) : *index);
  }
  std::optional<size_t> word, number;
  double numbers = 0;
  bool counted = true;
  for (size_t i = 0; i < first.size(); ++i) {
    if (skipped.count(static_cast<int64_t>(i))) continue;
    const auto cell = cell_number(first[i]);
    (cell ? number : word) = i;
    if (cell) counted = counted && *cell == numbers++;
  }
  if (word && number && !(counted && numbers > 1))
    input_error(fmt::format("'{}' in column {} of the first row is not a number, '{}' in column {} is one",
                            first[*word], *word, first[*number], *number),
                spec.path,
                "mend the cell, or leave the column out with ignore=; of a header name a column: label=NAME");
  return word.has_value();
}

class CsvReader final : public Reader {
 public:
  CsvReader(const DataSpec& spec, const std::vector<InputSpec>& inputs)
      : input_(only_input(inputs, spec.path)),
        table_(spec.path, [&](const std::vector<std::string>& first) { return choose_columns(first, spec); }) {}

  int64_t size() const override { return table_.size(); }
  bool labelled() const override { return table_.columns().label.has_value(); }
  std::string name_of(int64_t i) const override { return table_.name_of(i); }
  std::optional<int64_t> class_of(int64_t i) const override { return table_.class_of(i); }

  RawSample read(int64_t i) const override {
    const std::vector<std::string> cells = table_.cells(i);
    std::vector<double> values;
    for (const size_t column : features_) {
      const auto value = cell_number(cells[column]);
      if (!value || !std::isfinite(*value)) {
        input_error(
            fmt::format("'{}' in column '{}' is not a finite number", cells[column], shown(table_.columns(), column)),
            table_.name_of(i), "mend the cell, or leave the column out with ignore=");
      }
      values.push_back(*value);
    }
    RawSample sample;
    sample.arrays.emplace_back("", Tensor::of<double>({static_cast<int64_t>(values.size())}, values));
    if (labelled()) sample.label = table_.label(i);
    return sample;
  }

 private:
  TableColumns choose_columns(const std::vector<std::string>& first, const DataSpec& spec) {
    TableColumns columns{.names = {}, .count = first.size(), .label = {}};
    if (has_header(first, spec)) columns.names = first;
    std::set<size_t> taken;
    for (const std::string& text : spec.ignore) taken.insert(find_column(columns, text, spec.path));
    if (spec.label_column != "none") {
      columns.label = spec.label_column.empty() ? first.size() - 1 : find_column(columns, spec.label_column, spec.path);
      taken.insert(*columns.label);
    }
    for (size_t i = 0; i < first.size(); ++i) {
      if (!taken.count(i)) features_.push_back(i);
    }
    // A column that only numbers the rows is not a feature, where the model has no room for it.
    const auto width = width_of(input_);
    if (width && static_cast<int64_t>(features_.size()) == *width + 1 && !columns.names.empty() &&
        is_row_number(columns.names[features_[0]])) {
      features_.erase(features_.begin());
    }
    if (features_.empty() || (width && static_cast<int64_t>(features_.size()) != *width)) {
      std::vector<std::string> texts;
      for (const size_t i : features_) texts.push_back(shown(columns, i));
      input_error(fmt::format("{} columns of features ({}); the model takes {}", texts.size(), join(texts, ", "),
                              to_string({input_})),
                  spec.path, "name the columns that are none: label=COLUMN, ignore=COLUMN/COLUMN");
    }
    return columns;
  }

  InputSpec input_;
  std::vector<size_t> features_;
  CsvTable table_;  // the last, as it calls choose_columns()
};

}  // namespace

ReaderPtr csv_reader(const DataSpec& spec, const std::vector<InputSpec>& inputs) {
  return std::make_unique<CsvReader>(spec, inputs);
}

}  // namespace mlopt
