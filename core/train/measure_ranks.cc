#include "core/train/measure_ranks.h"

#include <algorithm>
#include <chrono>

#include "core/train/cost_model.h"

namespace mlopt::train {
namespace {

constexpr int64_t kSizes[] = {4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20};
constexpr double kSeconds = 0.3;  // for all rounds of a size

double timed(Communicator& ranks, std::span<float> values) {
  const auto start = std::chrono::steady_clock::now();
  all_reduce(ranks, values);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

std::vector<ReduceSpeed> measure_all_reduce(Communicator& ranks) {
  std::vector<ReduceSpeed> speeds;
  for (const int64_t bytes : kSizes) {
    std::vector<float> values(static_cast<size_t>(bytes) / sizeof(float));
    all_reduce(ranks, values);  // memory and connections are there
    float total[] = {static_cast<float>(timed(ranks, values))};
    all_reduce(ranks, total);  // all ranks do as many rounds
    const double rounds = kSeconds * ranks.size() / static_cast<double>(total[0]);
    std::vector<double> times(static_cast<size_t>(std::clamp(rounds, 3.0, 100.0)));
    for (double& time : times) time = timed(ranks, values);
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    const double median = times[times.size() / 2];
    const auto sent = static_cast<double>(all_reduce_bytes(ranks.size(), bytes));
    speeds.push_back({bytes, median, static_cast<int>(times.size()), median > 0 ? sent / median : 0});
  }
  return speeds;
}

}  // namespace mlopt::train
