#pragma once
#include <cstdint>

namespace mlopt::test {

/// How often our code has asked for memory with new, on all threads; libraries are not counted.
int64_t allocations();

}  // namespace mlopt::test
