#pragma once
#include <span>
#include <string>

#include "cli/command.h"
#include "core/exec/backend.h"
#include "core/measure/side_by_side.h"
#include "core/train/graphs.h"

namespace mlopt::cli {

/// Puts the branches that shapes and constants choose in the place of their If, and their values in that of shape
/// arithmetic, and what com.microsoft's joined operators stand for in their place, so that there are gradients. For a
/// model whose shapes are bound and whose weights are still constants: floats are left as they are.
void settle_shapes(Model& model);

/// Does to the graph of gradients what `fuse` does to a model, but for what would undo the recipe's recomputation, or
/// leave out a rounding of its precision. Weights that are trained are no constants of this graph, so nothing is folded
/// into them.
void prepare_gradients(train::TrainingGraphs& graphs, const train::Recipe& recipe);

/// A graph of gradients before and after its preparation. The figures are of one run of it.
struct Preparation {
  int64_t nodes_before = 0, nodes_after = 0;
  /// Of values and scratch, which a run needs beside the state; 0: not known before the graph runs.
  int64_t bytes_before = 0, bytes_after = 0;
  SideBySide time;
};

/// Runs both on `inputs` in turn for about `seconds`, on a copy of the state; where that is too short for runs that are
/// expected to take `run_seconds` each, or memory is, `time.left_out` says so.
Preparation measure_preparation(const Model& before, const train::TrainingGraphs& graphs, std::span<const Datum> inputs,
                                Backend& backend, CompileOptions options, double seconds, double run_seconds);
/// As a table, and as "preparation" in the data.
void report_preparation(const Preparation& preparation, Report& report);

}  // namespace mlopt::cli
