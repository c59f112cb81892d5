#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace mlopt::train {

/// How the learning rate goes from the first update to the last.
struct ScheduleDef {
  std::string_view name;
  std::string_view doc;  ///< one line
  /// Share of the highest rate at `progress`, from 0 (the first update) to 1 (after the last).
  double (*share)(double progress);
};

std::span<const ScheduleDef> schedules();
/// Null where there is none of that name.
const ScheduleDef* find_schedule(std::string_view name);

struct Schedule {
  const ScheduleDef* kind = nullptr;
  double rate = 0;     ///< the highest
  int64_t steps = 0;   ///< of the whole training
  int64_t warmup = 0;  ///< of these, the first, in which the rate grows from 0

  /// The rate of update `step`, from 0.
  double at(int64_t step) const;
};

}  // namespace mlopt::train
