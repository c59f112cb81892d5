#include "core/base/memory.h"

#include <vector>

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
