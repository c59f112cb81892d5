#pragma once
#include <string>
#include <vector>

#include "core/ir/model.h"
#include "core/report/report.h"

namespace mlopt::cli {

/// A line for each node, "y = Conv(x, w) strides=2,2"; nodes of bodies are set in under theirs. Types are left out.
std::vector<std::string> node_lines(const Graph& graph);

/// Two texts beside each other: both where a line stayed, else what stood in its place, or one side empty.
struct Beside {
  enum class Kind { kSame, kChanged, kRemoved, kAdded };
  Kind kind;
  std::string left, right;
};
/// As many lines stay as any pairing in order leaves; a line that occurs several times is paired at its first place.
std::vector<Beside> beside(const std::vector<std::string>& left, const std::vector<std::string>& right);

/// For people: long runs of what stayed are told by their number, and lines are cut to a width.
void add_table(const std::vector<Beside>& rows, Report& report);
/// to_html() of the report with the graphs, coloured by what changed.
std::string page_with_graphs(const Report& report, const std::vector<Beside>& rows);

}  // namespace mlopt::cli
