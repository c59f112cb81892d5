#pragma once
#include <string>
#include <vector>

#include "core/data/array_file.h"
#include "core/exec/state.h"
#include "core/train/communicator.h"

namespace mlopt::train {

// What --compress owes the next gradients differs between ranks, so each keeps its own, beside the checkpoints.

/// Writes this rank's to FOLDER/owed-NNNNNNNN-rank-R-of-K.npz, atomically; of older ones the newest is kept. Nothing
/// for none.
void save_residuals(const std::string& folder, int64_t steps, const Communicator& ranks, const NamedTensors& residuals);

/// This rank's after update `steps`; nothing where they are not there for all ranks, or not of the values that `state`
/// has of these names. All ranks call it.
NamedTensors load_residuals(const std::string& folder, int64_t steps, Communicator& ranks,
                            const std::vector<std::string>& names, const StateStore& state);

}  // namespace mlopt::train
