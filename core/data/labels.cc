#include "core/data/labels.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

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

/// The first name of a path from `start` on.
std::string_view first_part(std::string_view path, size_t start) {
  path.remove_prefix(std::min(start, path.size()));
  return path.substr(0, path.find('/'));
}

/// Where paths go on after the folders that hold all others, as archives of one folder have them.
size_t end_of_common(std::span<const std::string> paths, const std::set<std::string>& folders) {
  for (size_t start = 0;;) {
    const std::string_view top = first_part(paths.front(), start);
    const size_t next = start + top.size() + 1;
    const auto elsewhere = [&](const std::string& path) { return first_part(path, start) != top; };
    const auto deeper = [&](const std::string& path) { return path.find('/', next) != std::string::npos; };
    const auto other = [&](const std::string& folder) { return folder.size() > start && elsewhere(folder); };
    if (std::any_of(paths.begin(), paths.end(), elsewhere) || std::none_of(paths.begin(), paths.end(), deeper) ||
        std::any_of(folders.begin(), folders.end(), other))
      return start;
    start = next;
  }
}

}  // namespace

std::map<std::string, int64_t> read_label_table(const std::string& path) {
  const Source file = open_source(path);
  std::optional<Head> head;
  std::vector<Entry> entries;
  bool numbers = true;
  for_each_record(*file, [&](const CsvRecord& record) {
    const std::vector<std::string> cells = csv_words(record.text, '\t');
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

std::optional<std::vector<int64_t>> classes_by_folder(std::span<const std::string> paths,
                                                      const std::set<std::string>& folders, const std::string& where) {
  const size_t start = end_of_common(paths, folders);
  std::map<std::string_view, int64_t> classes;
  const std::string* loose = nullptr;
  for (const std::string& path : paths) {
    if (path.find('/', start) == std::string::npos)
      loose = loose ? loose : &path;
    else
      classes[first_part(path, start)] = 0;
  }
  if (classes.empty()) return std::nullopt;
  if (loose)
    input_error("a picture lies beside the class folders", fmt::format("{}, {}", where, *loose),
                "move it into the folder of its class, take it out of the data, or give labels=F.tsv");
  for (const std::string& folder : folders) {
    const std::string_view name = first_part(folder, start);
    if (!name.empty() && !classes.contains(name))
      input_error(fmt::format("no JPEG or PNG file in the class folder '{}'", name), where,
                  "put pictures into it, or take it out of the data");
  }
  int64_t next = 0;
  for (auto& [name, index] : classes) index = next++;
  std::vector<int64_t> labels;
  for (const std::string& path : paths) labels.push_back(classes.at(first_part(path, start)));
  return labels;
}

}  // namespace mlopt
