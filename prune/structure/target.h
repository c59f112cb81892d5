#pragma once
#include <vector>

#include "prune/prune.h"
#include "prune/structure/choose.h"

namespace mlopt::prune {

/// What can go from a model.
struct Removable {
  const Model& model;
  const Relations& all;
  const std::vector<Group>& groups;
  const std::vector<std::string>& names;           ///< of the groups
  const std::vector<std::vector<double>>& scores;  ///< of the channels of each group
  std::function<Model(const Removed&)> smaller;    ///< what is left without these, with what is done to recover
};

/// What goes, and how that was found.
struct Decision {
  Removed removed;
  Spec spec;         ///< what was searched for is said there: it decides the same without a search
  double share = 0;  ///< of channels, that was said or searched for
  std::vector<TriedWidths> tried;
  std::vector<Episode> episodes;
};

/// How many channels must go so that a share of them, of the multiply-accumulates, or of the time of a run does.
class Target {
 public:
  Target(const Removable& of, const Spec& spec, const Means& means);

  int64_t macs() const { return macs_; }
  /// With the sizes that free dimensions have where nobody says more.
  int64_t macs_of(const Model& model) const;

  /// Throws Error{kBadInput} for a target that cannot be met, with the least that can, or cannot be measured.
  Decision decide();

 private:
  Removed remove_share(double share, const Rounding& rounding) const;
  Removed remove_shares(const Shares& shares, const Rounding& rounding) const;
  Shares by_curves(double share) const;
  Rounding rounding() const;
  int64_t macs_without(const Removed& removed) const;
  double time_without(const Removed& removed, double share, int64_t multiple);
  double share_for_flops(const Rounding& rounding) const;
  double share_for_latency(const Rounding& rounding);
  double share_for(const Rounding& rounding);
  double share_for_size() const;
  Shares by_amc(const Rounding& rounding, std::vector<Episode>& episodes);
  void require_times() const;
  void require_macs() const;
  int64_t best_multiple();

  const Removable of_;
  const Spec& spec_;
  const Means& means_;
  int64_t macs_ = 0;
  std::vector<TriedWidths> tried_;
};

}  // namespace mlopt::prune
