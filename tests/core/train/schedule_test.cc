#include "core/train/schedule.h"

#include <array>
#include <cmath>

#include "tests/support/catch.h"

namespace mlopt::train {

TEST_CASE("rates over a training of 100 updates") {
  struct Row {
    const char* name;
    double at[4];  ///< updates 0, 30, 60 and 99
  };
  const double end = (1 + std::cos(M_PI * 0.99)) / 2;
  const Row rows[] = {{"constant", {1, 1, 1, 1}},
                      {"step", {1, 1, 0.1, 0.01}},
                      {"cosine", {1, (1 + std::cos(M_PI * 0.3)) / 2, (1 + std::cos(M_PI * 0.6)) / 2, end}},
                      {"onecycle", {0.04, 1, 0.6112617, 0.00050746}},
                      {"plateau", {1, 1, 1, 1}}};
  for (const Row& row : rows) {
    const Schedule schedule{find_schedule(row.name), 2, 100, 0};
    INFO(row.name);
    for (size_t i = 0; i < 4; ++i)
      CHECK(schedule.at(std::array<int64_t, 4>{0, 30, 60, 99}[i]) == Approx(2 * row.at[i]).epsilon(1e-4));
  }
  CHECK(schedules().size() == std::size(rows));
}

TEST_CASE("a rate grows in the warm-up, then follows its schedule over what is left") {
  const Schedule schedule{find_schedule("cosine"), 1, 110, 10};
  CHECK(schedule.at(0) == Approx(0.1));
  CHECK(schedule.at(9) == Approx(1));
  CHECK(schedule.at(10) == Approx(1));
  CHECK(schedule.at(60) == Approx(0.5));
  CHECK(find_schedule("linear") == nullptr);
}

}  // namespace mlopt::train
