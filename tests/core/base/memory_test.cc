#include "core/base/memory.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "core/base/align.h"
#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("the peak of this process grows with what it touches") {
  const int64_t before = peak_memory();
  REQUIRE(before > 1 << 20);
  const std::vector<char> large(static_cast<size_t>(before) + (64 << 20), 1);
  CHECK(peak_memory() >= static_cast<int64_t>(large.size()));
}

TEST_CASE("what is available is a plausible number of bytes") {
  const int64_t available = available_memory();
  CHECK(available > 1 << 20);
  CHECK(available < int64_t{1} << 50);
}

TEST_CASE("blocks of every size are aligned, and the caller's to write to the end") {
  for (const size_t bytes :
       {size_t{0}, size_t{1}, size_t{65}, (size_t{4} << 20) - 1, (size_t{4} << 20) + 3, size_t{9000001}}) {
    const std::unique_ptr<void, decltype(&std::free)> block(allocate_aligned(bytes), &std::free);
    REQUIRE(block);
    CHECK(reinterpret_cast<uintptr_t>(block.get()) % kAlignment == 0);
    std::memset(block.get(), 1, bytes);
  }
}
