#pragma once
#include <functional>

#include "prune/amc/search.h"
#include "prune/structure/target.h"

namespace mlopt::prune {

/// How a target is searched by the allocation "amc".
struct AmcTarget {
  const Removable& of;
  const Spec& spec;
  const Means& means;
  std::function<Removed(const Shares&)> removed;        ///< with these shares of the groups
  std::function<double(const Removed&)> macs_left;      ///< of the source's
  std::function<double(const Removed&)> measured_time;  ///< of a run, of the source's
};

/// The shares of the greatest reward that hold the budget of multiply-accumulates, of time, as the curves of the groups
/// tell it, or of channels. Where a run of the result still takes too long, as measured, as much more of each goes as
/// is needed. Throws Error{kBadInput} for a budget that cannot be held.
Shares search_by_amc(const AmcTarget& target, std::vector<Episode>& episodes);

}  // namespace mlopt::prune
