#pragma once
#include <string>

namespace mlopt::quickstart {

/// Prints one table from the reports in `folder` that run.sh asked for: eval-MODEL.json and bench.json. Throws
/// Error{kBadInput} when the network does not do what the sample promises: it is right on less than 97 % of the
/// pictures, or int8 costs more than half a point.
void print_summary(const std::string& folder);

}  // namespace mlopt::quickstart
