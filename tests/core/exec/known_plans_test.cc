#include "core/exec/known_plans.h"

#include "tests/support/catch.h"

namespace mlopt {
namespace {

std::vector<Datum> rows(int64_t count) { return {Tensor(DType::kF32, {count, 2})}; }

/// Plans for so many rows, which it counts.
struct Maker {
  KnownPlans known;
  int made = 0;

  KnownPlans::Known get(int64_t count) {
    const std::vector<Datum> inputs = rows(count);
    return known.get(inputs, [&] {
      ++made;
      auto plan = std::make_shared<KnownPlan>();
      plan->shapes = {inputs[0].tensor().dims()};
      plan->plan = std::make_unique<const Plan>(Plan::Parts());
      return plan;
    });
  }
};

}  // namespace

TEST_CASE("of many plans the one that was used longest ago goes first") {
  Maker maker;
  for (int64_t k = 1; k <= 16; ++k) maker.get(k);
  maker.get(1);
  CHECK(maker.made == 16);
  maker.get(17);
  maker.get(1);
  CHECK(maker.made == 17);
  maker.get(2);
  CHECK(maker.made == 18);
}

TEST_CASE("plans that somebody runs are not dropped") {
  Maker maker;
  const KnownPlans::Known first = maker.get(1);
  maker.get(2);
  CHECK(maker.known.drop_idle());
  CHECK(!maker.known.drop_idle());
  maker.get(1);
  CHECK(maker.made == 2);
  maker.get(2);
  CHECK(maker.made == 3);
}

TEST_CASE("a plan that is forgotten is not made again") {
  Maker maker;
  const KnownPlans::Known first = maker.get(1);
  maker.known.forget(first);
  CHECK(!maker.get(1)->plan);
  CHECK(maker.made == 1);
  CHECK(!maker.known.drop_idle());
}

}  // namespace mlopt
