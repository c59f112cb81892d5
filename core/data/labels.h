#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace mlopt {

/// The table of labels=F.tsv: file to class. Classes are the column `class_index`, else `label` (integers as they are,
/// words numbered in sorted order). Throws Error{kBadInput} naming the line.
std::map<std::string, int64_t> read_label_table(const std::string& path);

/// The class of each picture: the index of the first folder that it lies in among the sorted names of those, below the
/// folders that hold everything; nothing when none lies in a folder. Throws Error{kBadInput} naming a picture beside
/// the class folders, and one of the `folders` that is a class without pictures. `where` is what all is in.
std::optional<std::vector<int64_t>> classes_by_folder(std::span<const std::string> paths,
                                                      const std::set<std::string>& folders, const std::string& where);

}  // namespace mlopt
