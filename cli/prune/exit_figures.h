#pragma once
#include <cstdint>
#include <vector>

#include "core/data/dataset.h"
#include "core/exec/backend.h"
#include "core/report/report.h"
#include "prune/dynamic/early_exit.h"

namespace mlopt::cli {

/// What an exit and the whole model say of samples.
struct ExitFigures {
  struct Sample {
    double confidence = 0;  ///< of the exit
    bool exit_right = false, source_right = false;
  };
  struct Point {
    double leave = 0;  ///< of the samples
    double top1 = 0, top1_of_leaving = 0;
    double macs = 0;  ///< on average
  };
  std::vector<Sample> samples;
  int64_t macs_source = 0, macs_exit = 0, macs_rest = 0;  ///< of one sample

  /// When samples leave of which the exit is at least so sure.
  Point at(double confidence) const;
  double source_top1() const;
  /// The least with which no more than this share of the samples is lost; 1 where each leaving is too much.
  double least_confidence(double drop) const;
};

/// Runs both on the data. Throws Error{kBadInput} for data without labels.
ExitFigures look_at_exits(Executable& exit, Executable& source, const Dataset& data);

/// A table of confidences, and the one that was taken.
void report_exit(const ExitFigures& figures, double confidence, Report& report);

}  // namespace mlopt::cli
