#include "core/base/memory.h"

#include <malloc.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

#include "core/base/align.h"
#include "tests/support/catch.h"
#include "tests/support/thrown.h"

using namespace mlopt;

namespace {

/// Bytes of this process that are in memory now.
int64_t resident() {
  int64_t pages = 0, in_memory = 0;
  std::ifstream("/proc/self/statm") >> pages >> in_memory;
  return in_memory * ::sysconf(_SC_PAGESIZE);
}

}  // namespace

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

TEST_CASE("more memory than is available is refused before it is taken") {
  CHECK_NOTHROW(require_memory(size_t{300} << 20, "a test"));
  const int64_t available = available_memory();
  if (available == 0) return;
  const Error error = test::thrown_by([&] { require_memory(static_cast<size_t>(available) * 2, "a test"); });
  CHECK(error.code == Code::kUnsupported);
  CHECK_THAT(error.message, Catch::Matchers::Contains("for a test"));
}

TEST_CASE("freed memory between blocks in use goes back to the system") {
  constexpr size_t kBlocks = 2000, kBytes = 50000;  // too small to be given back one by one
  std::vector<std::unique_ptr<void, decltype(&std::free)>> kept, freed;
  for (size_t i = 0; i < kBlocks; ++i)
    for (auto* blocks : {&kept, &freed}) {
      blocks->emplace_back(std::malloc(i % 2 ? kBytes : kBytes + 64), &std::free);
      std::memset(blocks->back().get(), 1, kBytes);
    }
  if (::mallinfo2().uordblks < kBlocks * kBytes) return;  // a sanitizer's allocator stands in for the system's
  freed.clear();
  const int64_t before = resident();
  give_back_memory();
  CHECK(before - resident() > static_cast<int64_t>(kBlocks * kBytes / 2));
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
