#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace mlopt {

/// The most resident memory that this process ever had, in bytes (VmHWM); 0 where the system does not tell.
int64_t peak_memory();

/// Bytes that this process may still allocate: what the system has free or can free, within the limit of the control
/// group; 0 where the system does not tell.
int64_t available_memory();

/// Throws Error{kUnsupported} where so many bytes, all of which `what` will write, are not available: systems promise
/// more than they have, and end the process that takes them at their word. Few bytes are not asked for.
void require_memory(size_t bytes, const std::string& what);

/// Gives memory that was freed, and that the allocator holds in pieces for later, back to the system.
void give_back_memory();

/// Memory for numbers, aligned to kAlignment and to be freed with std::free(); large blocks lie on large pages where
/// the system has any, since walking through megabytes of weights otherwise waits for the addresses of pages. Null
/// where the system has no memory left.
void* allocate_aligned(size_t bytes);

}  // namespace mlopt
