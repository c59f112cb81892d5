#pragma once
#include <fmt/core.h>

#include <span>
#include <string>
#include <vector>

#include "core/base/text.h"

namespace mlopt {

/// Names of nodes for a message: the first few of many.
inline std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kShown = 8;
  const std::span<const std::string> all(names);
  std::string text = join(all.subspan(0, std::min(kShown, all.size())), ", ");
  return names.size() > kShown ? fmt::format("{} and {} more", text, names.size() - kShown) : text;
}

}  // namespace mlopt
