#include "prune/granularity.h"

#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("granularities are printed as they were parsed") {
  for (const char* text : {"element", "2:4", "1:16", "block=4x1", "block=16x16", "kernel", "channel"})
    CHECK(prune::to_string(prune::parse_granularity(text)) == text);
  const prune::Granularity pattern = prune::parse_granularity("4:8");
  CHECK(pattern.pattern());
  CHECK(pattern.keep == 4);
  CHECK(pattern.of == 8);
  CHECK_FALSE(prune::parse_granularity("kernel").pattern());
}

TEST_CASE("a granularity leaves zeros or changes shapes") {
  CHECK(prune::parse_granularity("2:4").kind() == prune::Kind::kMask);
  CHECK(prune::parse_granularity("block=2x2").kind() == prune::Kind::kMask);
  CHECK(prune::parse_granularity("head").kind() == prune::Kind::kStructure);
}
