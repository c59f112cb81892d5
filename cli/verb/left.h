#pragma once
#include <map>
#include <string>

#include "core/report/report.h"

namespace mlopt::cli {

/// What a verb left as it was -> why.
using Left = std::map<std::string, std::string>;

/// By reason: how many, and one of them.
void report_left(const Left& left, Report& report);
/// The key `declined`, in which `what` names them: "node" or "layer".
Json declined_json(const Left& left, const std::string& what);

}  // namespace mlopt::cli
