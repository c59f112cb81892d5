#pragma once
#include <cstdint>

namespace mlopt {

/// The most resident memory that this process ever had, in bytes (VmHWM); 0 where the system does not tell.
int64_t peak_memory();

/// Bytes that this process may still allocate: what the system has free or can free, within the limit of the control
/// group; 0 where the system does not tell.
int64_t available_memory();

}  // namespace mlopt
