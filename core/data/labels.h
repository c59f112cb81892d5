#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mlopt {

/// The table of labels=F.tsv: file to class. Classes are the column `class_index`, else `label` (integers as they are,
/// words numbered in sorted order). Throws Error{kBadInput} naming the line.
std::map<std::string, int64_t> read_label_table(const std::string& path);

/// The class of each picture: the index of its folder's name in the sorted names of all their folders; nothing when
/// none lies in a folder.
std::optional<std::vector<int64_t>> classes_by_folder(std::span<const std::string> paths);

}  // namespace mlopt
