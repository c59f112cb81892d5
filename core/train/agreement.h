#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "core/train/checkpoint.h"
#include "core/train/communicator.h"

namespace mlopt::train {

/// A digest of what is trained and how: the graphs and the values of the state, and `rest`.
std::string digest_of(const TrainingGraphs& graphs, std::string_view rest);

/// All ranks call it. Throws Error{kBadInput} on all of them where `mine` is not the same on all: `what` ("the models
/// differ"), which ranks, `fix`.
void require_agreement(Communicator& ranks, std::string_view mine, const std::string& what, const std::string& fix);

/// Gives rank 0's standing and what a checkpoint keeps of its state to all ranks: only it needs to see the checkpoint.
void share_standing(Communicator& ranks, const TrainingGraphs& graphs, Standing& standing);

}  // namespace mlopt::train
