#pragma once
#include "core/train/communicator.h"

namespace mlopt::test {

/// What every communicator does; called on all ranks. Throws std::runtime_error where one does not: it may run on any
/// thread.
void check_communicator(train::Communicator& ranks);

}  // namespace mlopt::test
