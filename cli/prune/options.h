#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/distill/options.h"
#include "prune/spec.h"

namespace mlopt::cli {

/// What `prune` takes.
struct PruneOptions {
  DistillOptions distill;  // of which --recover train and distill take more than what every verb takes
  VerbOptions& verb = distill.train.verb;
  int64_t& calibration_samples = distill.train.calibration_samples;
  std::string method = "magnitude", granularity, sparsity, threshold, flops, latency, round, allocation, scale, norm,
              schedule, penalty, drop, recover, exit_at, tokens_at;
  bool explain = false, analyse = false;
  std::string csv, curves, search;
  std::vector<std::string> only, skip;
  std::optional<int64_t> stages, iterations, every, rewind, episodes;
};
void declare_prune(Options& options, PruneOptions& prune);

/// Of --sparsity: what is searched for.
inline constexpr const char* kSearched = "auto";

/// The training of --recover: "train", "distill", or "". Throws Error{kUsage} for a recovery that there is not.
std::string retraining(const PruneOptions& options);
/// --method holds a method or a whole spec; the other options add to it. Throws Error where they do not go together.
prune::Spec spec_of(const PruneOptions& options, const Common& common);

}  // namespace mlopt::cli
