#pragma once
#include <memory>

#include "core/train/communicator.h"

struct GpuInterface;

namespace mlopt {

/// `ranks`, whose states the device of this number holds: NCCL adds up values of a state, all else is done as before.
/// `ranks` itself where NCCL is missing on one of them, or refuses (two ranks have one GPU). All ranks call it.
std::shared_ptr<train::Communicator> gpu_communicator(std::shared_ptr<train::Communicator> ranks,
                                                      const GpuInterface& api, int device);

}  // namespace mlopt
