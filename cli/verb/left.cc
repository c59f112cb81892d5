#include "cli/verb/left.h"

#include <fmt/core.h>

#include <vector>

namespace mlopt::cli {

void report_left(const Left& left, Report& report) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const auto& [name, reason] : left) by_reason[reason].push_back(name);
  for (const auto& [reason, names] : by_reason)
    report.line(fmt::format("left as {}: {}{}: {}", names.size() == 1 ? "it was" : "they were", names[0],
                            names.size() == 1 ? "" : fmt::format(" and {} more", names.size() - 1), reason));
}

Json declined_json(const Left& left, const std::string& what) {
  Json list = Json::array();
  for (const auto& [name, reason] : left) list.push_back(Json::object({{what, name}, {"reason", reason}}));
  return list;
}

}  // namespace mlopt::cli
