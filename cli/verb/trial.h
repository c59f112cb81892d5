#pragma once
#include <optional>

#include "cli/verb/verb.h"

namespace mlopt::cli {

/// What a result that is tried and not written is worth.
struct Trial {
  int64_t bytes = 0;                     ///< of its file
  std::optional<Difference> difference;  ///< of the output that is furthest from the source's; empty: not comparable
  std::optional<Score> score;            ///< empty without --metric
  SideBySide latency;                    ///< beside the source
};

/// Results that are tried on one source, for a table of what could be.
class Trials {
 public:
  Trials(const VerbOptions& verb, const Model& source, const Session& session);

  Trial look_at(const Model& made);
  /// Of the source; empty until the first trial, and without --metric.
  const std::optional<Score>& source_score() const { return source_score_; }
  /// The score, else the SQNR in dB; larger is better.
  double quality(const Trial& trial) const;
  /// "85.3 %" or "43.1 dB"; "-" where there is neither.
  std::string words(const Trial& trial) const;
  /// What quality() is.
  std::string quality_name() const { return verb_.metric.empty() ? "SQNR in dB" : verb_.metric; }

 private:
  const VerbOptions& verb_;
  const Model& source_;
  const Session& session_;
  RunCost cost_;
  std::optional<Score> source_score_;
};

}  // namespace mlopt::cli
