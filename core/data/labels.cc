#include "core/data/labels.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/csv.h"

namespace mlopt {
namespace {

struct Entry {
  std::string file, label;
  int64_t line;
};

struct Head {
  size_t file = 0, label = 0, count = 0;
};

Head parse_head(const std::vector<std::string>& cells, const std::string& path) {
  const auto at = [&](const char* name) {
    return static_cast<size_t>(std::find(cells.begin(), cells.end(), name) - cells.begin());
  };
  const size_t index = at("class_index");
  const Head head{at("file"), index < cells.size() ? index : at("label"), cells.size()};
  if (head.file == cells.size() || head.label == cells.size()) {
    input_error(fmt::format("the header is '{}'", join(cells, "', '")), path,
                "give it the columns 'file' and 'class_index' (or 'label'), separated by tabs");
  }
  return head;
}

}  // namespace

std::map<std::string, int64_t> read_label_table(const std::string& path) {
  const Source file = open_source(path);
  std::optional<Head> head;
  std::vector<Entry> entries;
  bool numbers = true;
  for_each_record(*file, [&](const CsvRecord& record) {
    const std::vector<std::string> cells = csv_cells(record.text, '\t');
    if (!head) {
      head = parse_head(cells, path);
      return;
    }
    const std::string where = fmt::format("{}, line {}", path, record.line);
    if (cells.size() <= std::max(head->file, head->label) || cells[head->label].empty())
      input_error("the label is missing", where, "fill the cell, or take the row out");
    entries.push_back({cells[head->file], cells[head->label], record.line});
    const auto index = parse_int(entries.back().label);
    if (index && *index < 0)
      input_error(fmt::format("the class {} is negative", *index), where, "classes count from 0");
    numbers = numbers && index.has_value();
  });
  if (entries.empty()) input_error("the table has no rows", path, "give it a header and a row for each picture");
  std::map<std::string, int64_t> words;
  for (const Entry& entry : entries) words[entry.label] = 0;
  int64_t next = 0;
  for (auto& [word, index] : words) index = next++;
  std::map<std::string, int64_t> classes;
  for (const Entry& entry : entries) {
    const int64_t label = numbers ? *parse_int(entry.label) : words[entry.label];
    const auto [at, fresh] = classes.emplace(entry.file, label);
    if (!fresh && at->second != label)
      input_error(fmt::format("'{}' has another label in an earlier row", entry.file),
                  fmt::format("{}, line {}", path, entry.line), "keep one of the rows");
  }
  return classes;
}

std::optional<std::vector<int64_t>> classes_by_folder(std::span<const std::string> paths) {
  const auto folder_of = [](const std::string& path) {
    return std::filesystem::path(path).parent_path().filename().string();
  };
  std::set<std::string> names;
  for (const std::string& path : paths) names.insert(folder_of(path));
  if (names.empty() || (names.size() == 1 && names.begin()->empty())) return std::nullopt;
  std::vector<int64_t> classes;
  for (const std::string& path : paths) classes.push_back(std::distance(names.begin(), names.find(folder_of(path))));
  return classes;
}

}  // namespace mlopt
