#pragma once
#include <vector>

#include "backends/reference/layer_normalization.h"
#include "core/base/parallel.h"

namespace mlopt::reference {

/// An input with one number for each of `count` channels (or groups), as double.
std::vector<double> per_channel(const Call& call, int i, int64_t count);

/// [batch, channels, rest] of a tensor; a tensor of rank 1 has one channel.
struct ChannelView {
  int64_t batch = 1, channels = 1, inner = 1;
};
ChannelView channel_view(const Call& call, const Dims& dims);

/// A kernel whose statistics may be those of all ranks of a parallel run.
template <void (*kRun)(Call&, const MeanOverRanks&)>
Expected<Step> compile_with_ranks(const NodeView&, const CompileContext& context) {
  return Step([mean = context.mean_over_ranks](Call& call) { kRun(call, mean); });
}

/// Moments of equally many elements on each rank become those of all of them; without ranks they stay.
void share_moments(std::vector<Moments>& moments, const MeanOverRanks& mean_over_ranks);

/// Mean and variance of each channel over the batch and the spatial dimensions, in two passes.
template <class T>
std::vector<Moments> channel_moments(const T* x, const ChannelView& view) {
  std::vector<Moments> found(static_cast<size_t>(view.channels));
  parallel_for(view.channels, 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      const auto each = [&](const auto& fn) {
        for (int64_t n = 0; n < view.batch; ++n)
          for (int64_t i = 0; i < view.inner; ++i) fn(static_cast<double>(x[(n * view.channels + c) * view.inner + i]));
      };
      Moments& m = found[static_cast<size_t>(c)];
      const auto count = static_cast<double>(view.batch * view.inner);
      each([&](double value) { m.mean += value; });
      m.mean /= count;
      each([&](double value) { m.variance += (value - m.mean) * (value - m.mean); });
      m.variance /= count;
    }
  });
  return found;
}

}  // namespace mlopt::reference
