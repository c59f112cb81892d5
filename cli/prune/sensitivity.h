#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cli/verb/trial.h"
#include "prune/prune.h"

namespace mlopt::cli {

/// Prunes a source by a spec, to see what that does.
using TryPruning = std::function<prune::Pruned(const prune::Spec&)>;

/// What each layer, or each group of coupled channels, can spare: pruned alone, by shares that grow.
class Sensitivity {
 public:
  struct Part {
    std::string name;                 ///< as in prune::Spec::shares
    std::vector<std::string> layers;  ///< whose weights make it
    int64_t size = 0;                 ///< channels, or weights
  };
  struct Point {
    double share = 0;
    Trial trial;
    int64_t macs = 0, bytes = 0;  ///< saved
    double macs_share = 0;        ///< saved, of the model's
    double ms = 0, time = 0;      ///< saved of a run, and its share; NaN: not measured
  };

  Sensitivity(const VerbOptions& verb, prune::Spec spec, const Model& source, const TryPruning& prune,
              Session& session);
  void measure();

  bool shrinks() const { return shrinks_; }
  std::span<const double> shares() const;
  const std::vector<Part>& parts() const { return parts_; }
  const Point& at(size_t part, size_t share) const { return points_[part * shares().size() + share]; }
  const Trials& trials() const { return trials_; }
  /// With losses as loss_of() has them.
  std::vector<prune::Curve> curves() const;

 private:
  void find_parts();
  Point point(const Part& part, double share);

  VerbOptions verb_;
  prune::Spec spec_;
  const Model& source_;
  const TryPruning& prune_;
  Session& session_;
  bool shrinks_;
  double pattern_share_ = 0;
  Trials trials_;
  std::vector<Part> parts_;
  std::vector<Point> points_;  // of each part, by share
};

/// How much worse a result is than the source: of the score, or where there is none of the outputs (noise over signal,
/// of energies); what the score does not tell apart, the outputs do.
double loss_of(const Trial& trial, const std::optional<Score>& source, const std::string& metric);

/// The curves of the file, where it has those of this source, spec and data; else they are measured, and written there.
/// An empty name: they are not kept. Throws Error{kBadInput} for a file that has others.
std::vector<prune::Curve> curves_for(const std::string& file, const VerbOptions& verb, const prune::Spec& spec,
                                     const Model& source, const TryPruning& prune, Session& session);

}  // namespace mlopt::cli
