#include "core/exec/weight_cache.h"

#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("a constant is packed once for each form") {
  WeightCache cache;
  int made = 0;
  const auto make = [&] { return std::make_shared<int>(++made); };
  const Tensor a = Tensor::ints({1, 2}), b = Tensor::ints({1, 2});
  const auto first = cache.get<int>(a, "rows", make);
  CHECK(cache.get<int>(a, "rows", make) == first);
  CHECK(cache.get<int>(a, "columns", make) != first);
  CHECK(cache.get<int>(b, "rows", make) != first);
  CHECK(made == 3);
}

TEST_CASE("what nobody holds is packed again: its place may have become another constant's") {
  WeightCache cache;
  int made = 0;
  const auto make = [&] { return std::make_shared<int>(++made); };
  const Tensor a = Tensor::ints({1, 2});
  (void)cache.get<int>(a, "rows", make);
  CHECK(*cache.get<int>(a, "rows", make) == 2);
}
