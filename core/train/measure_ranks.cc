#include "core/train/measure_ranks.h"

#include <algorithm>
#include <chrono>

#include "core/train/cost_model.h"

namespace mlopt::train {
namespace {

constexpr int64_t kSizes[] = {4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20};
constexpr int64_t kBytes = 256 << 20;  // in all rounds of a size

}  // namespace

std::vector<ReduceSpeed> measure_all_reduce(Communicator& ranks) {
  using Clock = std::chrono::steady_clock;
  std::vector<ReduceSpeed> speeds;
  for (const int64_t bytes : kSizes) {
    std::vector<float> values(static_cast<size_t>(bytes) / sizeof(float));
    all_reduce(ranks, values);  // memory and connections are there
    std::vector<double> times(static_cast<size_t>(std::clamp<int64_t>(kBytes / bytes, 5, 100)));
    for (double& time : times) {
      const auto start = Clock::now();
      all_reduce(ranks, values);
      time = std::chrono::duration<double>(Clock::now() - start).count();
    }
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    const double median = times[times.size() / 2];
    const auto sent = static_cast<double>(all_reduce_bytes(ranks.size(), bytes));
    speeds.push_back({bytes, median, static_cast<int>(times.size()), median > 0 ? sent / median : 0});
  }
  return speeds;
}

}  // namespace mlopt::train
