#include "backends/gpu/measure.h"

#include <algorithm>
#include <chrono>

#include "core/base/rng.h"

namespace mlopt::gpu {
namespace {

template <class Fn>
double seconds_of(WorkQueue& queue, const Fn& run) {
  const auto start = std::chrono::steady_clock::now();
  check(run(), "measuring");
  queue.wait();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The rate at which `run` does `work`, a second long at most: the first time, which loads and chooses, does not count.
template <class Fn>
Peak rate_of(std::string what, double work, int tries, WorkQueue& queue, const Fn& run) {
  constexpr double kMost = 1;
  std::vector<double> rates;
  double all = 0;
  for (int i = 0; i <= tries && (rates.empty() || all < kMost); ++i) {
    const double spent = seconds_of(queue, run);
    if (i > 0) rates.push_back(work / spent);
    all += spent;
  }
  std::sort(rates.begin(), rates.end());
  return {std::move(what), rates.back(), rates[rates.size() / 2], static_cast<int>(rates.size())};
}

/// Numbers between 2^-7 and 2, of both signs, whichever type they are read as: products of zeros take less power, and
/// clocks are higher then.
std::vector<uint64_t> numbers_of_all_types(size_t bytes) {
  std::vector<uint64_t> numbers((bytes + 7) / 8);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = (scrambled(i + 1) & 0x83ff83ff83ff83ff) | 0x3c003c003c003c00;
  return numbers;
}

ProductArgs product_of(int64_t size, const Memory& a, const Memory& b, const Memory& out) {
  ProductArgs args{};
  args.type = Elem::kF32;
  args.batch = 1;
  args.m = args.n = args.k = size;
  args.alpha = 1;
  args.a = a.at();
  args.b = b.at();
  args.out = out.at();
  return args;
}

/// A device that takes long for small matrices is given no larger ones.
int64_t telling_size(int64_t most, ProductArgs args, WorkQueue& queue) {
  constexpr double kLong = 0.02;
  for (int64_t size = 64; size < most; size *= 2) {
    args.m = args.n = args.k = size;
    const auto run = [&] { return queue.api().kernels.product(queue.get(), args); };
    seconds_of(queue, run);
    if (seconds_of(queue, run) > kLong) return size;
  }
  return most;
}

}  // namespace

std::vector<Peak> measure_peaks(Device device, int64_t size, int64_t copy_bytes, int tries) {
  WorkQueue queue(device);
  const Kernels& kernels = device.api->kernels;
  std::vector<Peak> peaks;
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
  const std::vector<uint64_t> numbers = numbers_of_all_types(bytes);
  for (const Memory* memory : {&a, &b}) queue.transfer(memory->at(), numbers.data(), bytes);
  ProductArgs args = product_of(size, a, b, out);
  args.m = args.n = args.k = telling_size(size, args, queue);
  const auto n = static_cast<double>(args.n);
  for (const auto& way : ways) {
    args.type = way.type;
    args.tf32 = way.tf32;
    peaks.push_back(rate_of(way.what, 2 * n * n * n, tries, queue, [&] { return kernels.product(queue.get(), args); }));
    peaks.back().size = args.n;
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
