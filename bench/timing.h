#pragma once
#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "backends/cpu/dnn.h"
#include "core/base/rng.h"

namespace mlopt::bench {

using Run = std::function<void()>;

/// Processor time of this thread where it works alone, which what else runs on the machine does not count to; else the
/// clock's.
inline double seconds(int threads) {
  if (threads > 1) return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

inline std::vector<float> numbers(int64_t count) {
  Rng rng(1);
  std::vector<float> v(static_cast<size_t>(count));
  for (float& x : v) x = static_cast<float>(rng.uniform(-1, 1));
  return v;
}

inline cpu::Memory filled(const cpu::Desc& desc) {
  cpu::Memory m(desc, cpu::engine());
  const std::vector<float> v = numbers(static_cast<int64_t>(desc.get_size() / sizeof(float)));
  std::memcpy(m.get_data_handle(), v.data(), desc.get_size());
  return m;
}

/// Room that lives as long as what runs in it.
inline std::shared_ptr<Tensor> workspace(size_t bytes) {
  return std::make_shared<Tensor>(DType::kU8, Dims{static_cast<int64_t>(bytes)});
}

/// A run of a oneDNN primitive.
template <class Primitive>
Run run_of(const typename Primitive::primitive_desc& pd, std::unordered_map<int, cpu::Memory> args) {
  if (pd.scratchpad_desc().get_size() > 0)
    args.emplace(DNNL_ARG_SCRATCHPAD, cpu::Memory(pd.scratchpad_desc(), cpu::engine()));
  return [op = Primitive(pd), args, stream = dnnl::stream(cpu::engine())] { op.execute(stream, args); };
}

struct Timed {
  Run run;  ///< empty: there is none
  double flops;
};

/// GFLOP/s of each in the fastest tenth of short blocks that alternate, which a busy machine disturbs least.
inline std::vector<double> rates_of(const std::vector<Timed>& all, int threads) {
  constexpr int kBlocks = 40;
  constexpr double kBlockFlops = 1e8;
  std::vector<std::vector<double>> rates(all.size());
  for (int block = 0; block < kBlocks; ++block)
    for (size_t i = 0; i < all.size(); ++i) {
      if (!all[i].run) continue;
      const int calls = static_cast<int>(std::clamp(kBlockFlops / all[i].flops, 1.0, 20000.0));
      const double start = seconds(threads);
      for (int call = 0; call < calls; ++call) all[i].run();
      rates[i].push_back(calls * all[i].flops / (seconds(threads) - start) * 1e-9);
    }
  std::vector<double> out;
  for (auto& r : rates) {
    std::sort(r.rbegin(), r.rend());
    out.push_back(r.empty() ? 0 : r[r.size() / 10]);
  }
  return out;
}

}  // namespace mlopt::bench
