#pragma once
#include "cli/prune/sensitivity.h"
#include "core/report/report.h"
#include "prune/prune.h"

namespace mlopt::cli {

/// What the allocation "amc" is told of results: their score on --data, or where there is none how near the outputs are
/// to the source's. What was tried is kept in a file.
class AmcSearch {
 public:
  /// An empty name: nothing is kept. Throws Error{kBadInput} for a file of another search.
  AmcSearch(const std::string& file, const VerbOptions& verb, const prune::Spec& spec, const Model& source,
            Session& session);
  AmcSearch(const AmcSearch&) = delete;  // what it hands on points into it
  AmcSearch& operator=(const AmcSearch&) = delete;

  const prune::AmcMeans* means() const { return &means_; }

 private:
  double reward(const Model& made);
  void keep(const std::string& file, const std::vector<prune::Episode>& episodes);

  VerbOptions verb_;
  Json key_;
  Trials trials_;
  Progress progress_;
  prune::AmcMeans means_;
};

/// What the search tried, and what it was worth; nothing where there was none.
void report_episodes(const prune::Pruned& made, Report& report);

}  // namespace mlopt::cli
