#include "prune/schedules.h"

#include "core/base/named.h"

namespace mlopt::prune {
namespace {

constexpr PruningSchedule kSchedules[] = {
    {kOnce, "before a training, or behind that of regularization and dropout", nullptr},
    {kGradual, "in the first half of a training, most at first", gradual},
    {kLottery,
     "behind a training, after which the rest goes back to what it was behind an early update, to be trained "
     "again",
     lottery},
    {kRateRewind, "as lottery, but only the learning rate and the optimizer go back", rate_rewind},
};

}  // namespace

std::span<const PruningSchedule> schedules() { return kSchedules; }

bool scheduled(const Spec& spec) {
  return spec.method == kMovement || (!spec.schedule.empty() && spec.schedule != kOnce);
}

ScheduleParts schedule_parts(const ScheduleSetting& setting) {
  const std::string_view name = setting.spec.schedule.empty() ? kGradual : setting.spec.schedule;
  return find_named(schedules(), name)->make(setting);
}

double cubic_share(double progress) {
  const double left = 1 - progress;
  return 1 - left * left * left;
}

}  // namespace mlopt::prune
