#pragma once
#include <memory>
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

/// Results that are tried on one source, for a table of what could be. The source is compiled and scored once, and what
/// it gives is kept.
class Trials {
 public:
  Trials(const VerbOptions& verb, const Model& source, const Session& session);
  ~Trials();

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
  class Remembered;
  std::optional<Difference> difference_of_result();
  void open_compared();

  const VerbOptions& verb_;
  const Model& source_;
  const Session& session_;
  Plans plans_;
  std::unique_ptr<Dataset> compared_, scored_;
  int64_t batch_ = 1;                    ///< that are compared at once
  std::unique_ptr<Remembered> outputs_;  ///< of the source on what is compared; null: it cannot be run
  std::optional<Score> source_score_;
};

/// Where --analyse writes its report besides; empty: nowhere.
struct AnalysisFiles {
  std::string csv, html;
};
/// Sees before the work that a model is named, that none is to be written or judged, and that the files can be written;
/// "-" takes standard output.
void check_analysis(const VerbOptions& verb, const AnalysisFiles& files, Session& session);
void write_analysis(const AnalysisFiles& files, const Report& report);

}  // namespace mlopt::cli
