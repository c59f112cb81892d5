#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt {

/// The row of a table whose member `name` is this; null where there is none.
template <class Row>
const Row* find_named(std::span<const Row> table, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const Row& row) { return row.name == name; });
  return found == table.end() ? nullptr : &*found;
}

/// The same; throws Error{kUsage} where there is none, saying what is called so at best.
template <class Row>
const Row& require_named(std::span<const Row> table, std::string_view name, std::string_view what,
                         const std::string& where) {
  if (const Row* found = find_named(table, name)) return *found;
  std::vector<std::string> names;
  for (const Row& row : table) names.emplace_back(row.name);
  usage_error("no " + std::string(what) + " is called '" + std::string(name) + "'", where, suggestion(name, names));
}

}  // namespace mlopt
