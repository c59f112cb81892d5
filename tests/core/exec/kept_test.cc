#include "core/exec/kept.h"

#include "tests/support/catch.h"

TEST_CASE("what was given back is taken again, and made where all are taken") {
  mlopt::Kept<int> kept;
  int made = 0;
  const auto make = [&] { return std::make_unique<int>(++made); };
  auto first = kept.take(make), second = kept.take(make);
  CHECK(made == 2);
  kept.give_back(std::move(first));
  CHECK(*kept.take(make) == 1);  // and is gone
  CHECK(*kept.take(make) == 3);
}
