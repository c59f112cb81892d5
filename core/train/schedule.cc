#include "core/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/named.h"

namespace mlopt::train {
namespace {

/// From 1 to 0 along half a cosine.
double falling(double progress) { return (1 + std::cos(std::numbers::pi * progress)) / 2; }

double constant(double) { return 1; }

/// A tenth after half of the training, a hundredth in its last quarter (He et al. 2016).
double step(double progress) { return progress < 0.5 ? 1 : progress < 0.75 ? 0.1 : 0.01; }

/// Up from a 25th in the first 30 %, then down to next to nothing (Smith and Topin 2018).
double one_cycle(double progress) {
  constexpr double kPeak = 0.3, kFirst = 1.0 / 25, kLast = kFirst / 1e4;
  if (progress < kPeak) return kFirst + (1 - kFirst) * (1 - falling(progress / kPeak));
  return kLast + (1 - kLast) * falling((progress - kPeak) / (1 - kPeak));
}

constexpr ScheduleDef kSchedules[] = {
    {"constant", "one rate", constant},
    {"step", "a tenth of it after half, a hundredth after three quarters", step},
    {"cosine", "down to 0 along half a cosine", falling},
    {"onecycle", "up in the first 30 %, then down to 0", one_cycle},
    {"plateau", "a tenth whenever the validation score has not improved for 5 epochs", constant},
};

}  // namespace

std::span<const ScheduleDef> schedules() { return kSchedules; }

const ScheduleDef* find_schedule(std::string_view name) { return find_named(schedules(), name); }

double Schedule::at(int64_t step) const {
  if (step < warmup) return rate * static_cast<double>(step + 1) / static_cast<double>(warmup);
  const int64_t length = std::max<int64_t>(1, steps - warmup);
  return rate * kind->share(static_cast<double>(step - warmup) / static_cast<double>(length));
}

}  // namespace mlopt::train
