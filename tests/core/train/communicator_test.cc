#include "core/train/communicator.h"

#include "tests/support/catch.h"
#include "tests/support/communicator_checks.h"
#include "tests/support/ranks.h"

using namespace mlopt;

TEST_CASE("one process is a run of one rank") {
  const auto ranks = train::single_communicator();
  CHECK(ranks->size() == 1);
  test::check_communicator(*ranks);
  CHECK(train::gather(*ranks, "mine") == std::vector<std::string>{"mine"});
}

TEST_CASE("ranks reduce, gather and broadcast") {
  for (const int count : {1, 2, 3})
    test::with_ranks(count, [](train::Communicator& ranks) { test::check_communicator(ranks); });
}
