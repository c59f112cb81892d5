#pragma once
#include <algorithm>
#include <span>
#include <string_view>

namespace mlopt {

/// The row of a table whose member `name` is this; null where there is none.
template <class Row>
const Row* find_named(std::span<const Row> table, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const Row& row) { return row.name == name; });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace mlopt
