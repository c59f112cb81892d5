#include "tests/support/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

// What the linker calls the limits of the program's own code.
extern "C" const char __executable_start, etext;

namespace mlopt::test {
namespace {

std::atomic<int64_t> count{0};

}  // namespace

int64_t allocations() { return count; }

/// What `new` gives to a caller; null where there is none.
void* allocate(size_t bytes, const void* caller) {
  const auto* at = static_cast<const char*>(caller);
  if (at >= &__executable_start && at < &etext) ++count;
  return std::malloc(bytes > 0 ? bytes : 1);
}

}  // namespace mlopt::test

// Arrays come here too, or have a pair of their own.
void* operator new(size_t bytes) {
  if (void* block = mlopt::test::allocate(bytes, __builtin_return_address(0))) return block;
  throw std::bad_alloc();
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return mlopt::test::allocate(bytes, __builtin_return_address(0));
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, size_t) noexcept { std::free(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { std::free(block); }
