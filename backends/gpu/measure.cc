#include "backends/gpu/measure.h"

#include <algorithm>
#include <chrono>

namespace mlopt::gpu {
namespace {

/// The rate at which `run` does `work`: the first time, which loads and chooses, does not count.
template <class Fn>
Peak rate_of(std::string what, double work, int tries, WorkQueue& queue, const Fn& run) {
  std::vector<double> rates;
  for (int i = 0; i <= tries; ++i) {
    const auto start = std::chrono::steady_clock::now();
    check(run(), "measuring");
    queue.wait();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (i > 0) rates.push_back(work / spent.count());
  }
  std::sort(rates.begin(), rates.end());
  return {std::move(what), rates.back(), rates[rates.size() / 2]};
}

}  // namespace

std::vector<Peak> measure_peaks(Device device, int64_t size, int64_t copy_bytes, int tries) {
  WorkQueue queue(device);
  const Kernels& kernels = device.api->kernels;
  std::vector<Peak> peaks;
  const auto n = static_cast<double>(size);
  const size_t bytes = static_cast<size_t>(size * size) * sizeof(float);
  const Memory a(device, bytes), b(device, bytes), out(device, bytes);
  const struct {
    const char* what;
    Elem type;
    bool tf32;
  } ways[] = {{"fp32", Elem::kF32, false},
              {"tf32", Elem::kF32, true},
              {"fp16", Elem::kF16, false},
              {"bf16", Elem::kBF16, false}};
  const std::vector<std::byte> zeros(bytes);
  for (const Memory* memory : {&a, &b}) queue.transfer(memory->at(), zeros.data(), bytes);
  for (const auto& way : ways) {
    ProductArgs args{};
    args.type = way.type;
    args.tf32 = way.tf32;
    args.batch = 1;
    args.m = args.n = args.k = size;
    args.alpha = 1;
    args.a = a.at();
    args.b = b.at();
    args.out = out.at();
    peaks.push_back(rate_of(way.what, 2 * n * n * n, tries, queue, [&] { return kernels.product(queue.get(), args); }));
  }
  const auto half = static_cast<size_t>(copy_bytes);
  const Memory from(device, half), to(device, half);
  const EltwiseArgs copy{Elem::kF32, {Fn::kAbs}, from.at(), to.at(), copy_bytes / 4};
  peaks.push_back(rate_of("copy", 2.0 * static_cast<double>(copy_bytes), tries, queue,
                          [&] { return kernels.eltwise(queue.get(), copy); }));
  return peaks;
}

std::optional<double> joules_per_run(Device device, const std::function<void()>& run, double seconds) {
  double before = 0, after = 0;
  if (device.api->energy(device.index, &before)) return std::nullopt;
  int64_t runs = 0;
  const auto start = std::chrono::steady_clock::now();
  for (std::chrono::duration<double> spent{}; spent.count() < seconds || runs == 0;
       spent = std::chrono::steady_clock::now() - start) {
    run();
    ++runs;
  }
  if (device.api->energy(device.index, &after) || after <= before) return std::nullopt;
  return (after - before) / static_cast<double>(runs);
}

}  // namespace mlopt::gpu
