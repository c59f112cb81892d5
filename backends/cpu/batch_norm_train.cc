// BatchNormalization by the statistics of the batch, and the gradient of both forms.
#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/cpu/channel_sums.h"
#include "backends/cpu/kernels.h"

namespace mlopt::cpu {
namespace {

/// What a run needs for each channel.
struct Space {
  ChannelSums* sums;
  float *a, *b, *c;

  Space(const Planes& p, std::byte* scratch)
      : sums(reinterpret_cast<ChannelSums*>(scratch)),
        a(reinterpret_cast<float*>(sums + p.channels)),
        b(a + p.channels),
        c(b + p.channels) {}
  static size_t bytes(const Planes& p) {
    return static_cast<size_t>(p.channels) * (sizeof(ChannelSums) + 3 * sizeof(float));
  }
};

struct Moments {
  double mean, variance;
};

Moments moments_of(const ChannelSums& s, const Planes& p) {
  const double count = static_cast<double>(p.count()), mean = s.x / count;
  return {mean + static_cast<double>(s.shift), std::max(0.0, s.squares / count - mean * mean)};
}

/// The sums become those of a batch of the same size that is like the whole of what all ranks have.
void share_sums(const Planes& p, const MeanOverRanks& mean, ChannelSums* sums) {
  if (!mean) return;
  std::vector<double> values;
  const auto count = static_cast<double>(p.count());
  for (int64_t c = 0; c < p.channels; ++c) {  // each rank counts from a number of its own
    const ChannelSums& s = sums[c];
    const auto shift = static_cast<double>(s.shift);
    values.insert(values.end(), {s.x + count * shift, s.squares + 2 * shift * s.x + count * shift * shift, s.dy,
                                 s.product + shift * s.dy});
  }
  mean(values);
  for (int64_t c = 0; c < p.channels; ++c) {
    const double* v = &values[static_cast<size_t>(4 * c)];
    sums[c] = {v[0], v[1], v[2], v[3], 0};
  }
}

/// What a node is planned for, besides shapes.
struct Settings {
  double epsilon, momentum = 0;
  bool fixed = false;  ///< by statistics that are given
  MeanOverRanks mean_over_ranks = {};
};

void forward(const Planes& p, const Settings& settings, const Buffers& b) {
  const Space space(p, b.scratch);
  const float *x = b.in<float>(0), *scale = b.in<float>(1);
  const double epsilon = settings.epsilon, momentum = settings.momentum;
  channel_sums(p, x, nullptr, space.sums);
  share_sums(p, settings.mean_over_ranks, space.sums);
  for (int64_t c = 0; c < p.channels; ++c) {
    const Moments m = moments_of(space.sums[c], p);
    space.b[c] = static_cast<float>(m.mean);
    space.a[c] = static_cast<float>(static_cast<double>(scale[c]) / std::sqrt(m.variance + epsilon));
    const auto kept = [&](int i, double now) {
      return static_cast<float>(static_cast<double>(b.in<float>(i)[c]) * momentum + now * (1 - momentum));
    };
    b.out<float>(1)[c] = kept(3, m.mean);
    b.out<float>(2)[c] = kept(4, m.variance);
  }
  apply(p, {space.b, space.a, b.in<float>(2), false}, x, b.out<float>(0));
}

Expected<PlannedStep> plan_training(const Site& site) {
  const NodeView& view = site.view;
  if (view.opset() < 14 || view.get_int("training_mode", 0) == 0) return Decline{"no training"};
  const auto p = planes_of(site);
  if (!p) return p.error();
  if (!are_by_channel(site, 5, p->channels)) return Decline{"statistics do not fit the channels"};
  const TensorDesc statistics{DType::kF32, {p->channels}};
  PlannedStep step{.out = {site.desc(0), statistics, statistics}};
  step.scratch_bytes = Space::bytes(*p);
  step.more_in_place = {3, 4};
  const Settings settings{view.get_float("epsilon", 1e-5f), view.get_float("momentum", 0.9f), false,
                          site.context.mean_over_ranks};
  step.run = [p = *p, settings](const Buffers& b) { forward(p, settings, b); };
  return step;
}

/// dx = a dy + b x + c for each channel, with what these are where the statistics are the batch's.
void backward(const Planes& p, const Settings& settings, const Buffers& b) {
  const Space space(p, b.scratch);
  const float *x = b.in<float>(0), *dy = b.in<float>(1), *scale = b.in<float>(2);
  channel_sums(p, x, dy, space.sums);
  const std::vector<ChannelSums> own(space.sums, space.sums + p.channels);
  const bool fixed = settings.fixed;
  if (!fixed) share_sums(p, settings.mean_over_ranks, space.sums);
  const auto count = static_cast<double>(p.count());
  for (int64_t c = 0; c < p.channels; ++c) {
    const ChannelSums& s = space.sums[c];
    const Moments m = fixed ? Moments{b.in<float>(3)[c], b.in<float>(4)[c]} : moments_of(s, p);
    const double inverse = 1 / std::sqrt(m.variance + settings.epsilon);
    const auto along_of = [&](const ChannelSums& sums) {
      return (sums.product - (m.mean - static_cast<double>(sums.shift)) * sums.dy) * inverse;
    };
    // Gradients of the parameters are added up over the ranks elsewhere.
    b.out<float>(1)[c] = static_cast<float>(along_of(own[static_cast<size_t>(c)]));
    b.out<float>(2)[c] = static_cast<float>(own[static_cast<size_t>(c)].dy);
    const double along = along_of(s);
    const double a = static_cast<double>(scale[c]) * inverse, slope = fixed ? 0 : -a * inverse * along / count;
    space.a[c] = static_cast<float>(a);
    space.b[c] = static_cast<float>(slope);
    space.c[c] = static_cast<float>(fixed ? 0 : -a * s.dy / count - slope * m.mean);
  }
  combine(p, {space.a, space.b, space.c}, x, dy, b.out<float>(0));
}

Expected<PlannedStep> plan_gradient(const Site& site) {
  const auto p = planes_of(site);
  if (!p) return p.error();
  const bool fixed = site.in.size() == 5;
  if (!are_by_channel(site, fixed ? 5 : 3, p->channels, 2) || site.desc(1).dims != site.desc(0).dims)
    return Decline{"dy or scale does not fit"};
  const TensorDesc by_channel{DType::kF32, {p->channels}};
  PlannedStep step{.out = {site.desc(0), by_channel, by_channel}};
  step.in_place = 1;
  step.scratch_bytes = Space::bytes(*p);
  const Settings settings{site.view.get_float("epsilon", 1e-5f), 0, fixed, site.context.mean_over_ranks};
  step.run = [p = *p, settings](const Buffers& b) { backward(p, settings, b); };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "BatchNormalization", .plan = plan_training, .layout = LayoutRule::kFollows},
    {.domain = "mlopt", .op = "BatchNormGrad", .plan = plan_gradient, .layout = LayoutRule::kFollows},
};

}  // namespace

std::span<const Kernel> batch_norm_train_kernels() { return kKernels; }

}  // namespace mlopt::cpu
