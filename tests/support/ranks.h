#pragma once
#include <functional>

#include "core/train/communicator.h"

namespace mlopt::test {

/// Calls fn once for each of `count` ranks, each on a thread of its own, which share memory in place of a network. The
/// first exception is rethrown when all have ended; the others then throw train::Interrupted where they wait.
void with_ranks(int count, const std::function<void(train::Communicator&)>& fn);

}  // namespace mlopt::test
