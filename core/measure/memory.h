#pragma once
#include <cstdint>
#include <functional>
#include <optional>

namespace mlopt {

/// The most resident memory that this process ever had, in bytes (VmHWM); 0 where the system does not tell.
int64_t peak_memory();

/// Bytes that this process may still allocate: what the system has free or can free, within the limit of the control
/// group; 0 where the system does not tell.
int64_t available_memory();

/// The peak of a fresh process that does `work`: a fork of this one, which must not have started threads yet. Nothing
/// when the work fails there.
std::optional<int64_t> peak_memory_of(const std::function<void()>& work);

}  // namespace mlopt
