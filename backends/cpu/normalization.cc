// Normalizations by channel: BatchNormalization with stored statistics, InstanceNormalization, GroupNormalization.
#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels.h"
#include "backends/cpu/planes.h"
#include "backends/cpu/rows.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kGrain = 8192;  // elements below which a second thread costs more than it brings

Expected<PlannedStep> plan_batch_norm(const Site& site) {
  const NodeView& view = site.view;
  if (view.get_int("training_mode", 0) != 0 || view.node().outputs().size() > 1) return Decline{"training"};
  if (view.get_int("spatial", 1) != 1) return Decline{"statistics for each element"};
  if (view.opset() < 7 && view.get_int("is_test", 0) == 0) return Decline{"training"};
  const auto p = planes_of(site);
  if (!p) return p.error();
  if (!are_by_channel(site, 5, p->channels)) return Decline{"statistics do not fit the channels"};
  PlannedStep step{.out = {site.desc(0)}};
  step.in_place = 0;
  step.scratch_bytes = static_cast<size_t>(p->channels) * sizeof(float);
  step.run = [p = p->as_rows(), epsilon = view.get_float("epsilon", 1e-5f)](const Buffers& buffers) {
    const float *scale = buffers.in<float>(1), *variance = buffers.in<float>(4);
    auto* a = reinterpret_cast<float*>(buffers.scratch);
    for (int64_t c = 0; c < p.channels; ++c) a[c] = scale[c] / std::sqrt(variance[c] + epsilon);
    apply(p, {buffers.in<float>(3), a, buffers.in<float>(2), false}, buffers.in<float>(0), buffers.out<float>(0));
  };
  return step;
}

/// Groups of neighbouring channels that are normalized by their own statistics, then each channel scaled. `scale` and
/// `bias` are for each channel, or for each group when `by_group`.
struct Groups {
  int64_t count, members;
  bool by_group;
  float epsilon;
};

/// Parts of a channels-last image whose sums are kept apart, however many threads there are.
constexpr int64_t kParts = 16;

/// The scratch of a run, for each channel of each image.
struct Space {
  double* sums;  ///< of each part
  float* rows;   ///< a wide one for each part
  float *means, *factor, *add;

  Space(const Planes& p, std::byte* scratch) : sums(reinterpret_cast<double*>(scratch)) {
    const int64_t all = p.images * p.channels, parts = p.channels_last ? all * kParts : 0;
    rows = reinterpret_cast<float*>(sums + parts);
    means = rows + parts * positions_together(p.channels);
    factor = means + all;
    add = factor + all;
  }
  static size_t bytes(const Planes& p) {
    const int64_t part = sizeof(double) + positions_together(p.channels) * sizeof(float);
    const int64_t each = 3 * sizeof(float) + (p.channels_last ? kParts * part : 0);
    return static_cast<size_t>(p.images * p.channels * each);
  }
};

/// The variance of a group of an image becomes its channels' factors and addends; `first` is the image's first channel.
void finish(const Groups& g, int64_t group, double variance, const Buffers& b, const Space& space, int64_t first) {
  const double deviation = std::sqrt(variance + g.epsilon);
  for (int64_t m = 0; m < g.members; ++m) {
    const int64_t c = group * g.members + m, at = g.by_group ? group : c;
    space.factor[first + c] = static_cast<float>(b.in<float>(1)[at] / deviation);
    space.add[first + c] = b.in<float>(2)[at];
  }
}

void normalize_planes(const Planes& p, const Groups& g, const Buffers& b, const Space& space) {
  const int64_t block = g.members * p.size;
  parallel_for(p.images * g.count, std::max<int64_t>(1, kGrain / block), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float* in = b.in<float>(0) + i * block;
      float* out = b.out<float>(0) + i * block;
      const float mean = fold_row(Fold::kSum, in, block) / static_cast<float>(block);
      const float variance = sum_deviation(in, block, mean) / static_cast<float>(block);
      finish(g, i % g.count, variance, b, space, i / g.count * p.channels);
      for (int64_t m = 0; m < g.members; ++m)
        centred_affine(in + m * p.size, out + m * p.size, p.size, mean, space.factor[i * g.members + m],
                       space.add[i * g.members + m]);
    }
  });
}

/// Adds up rows of channels, or their squared distances from `mean`, to `sums`; `acc` has room for a wide row.
void add_rows(const float* x, int64_t rows, int64_t channels, const float* mean, float* acc, double* sums) {
  constexpr int64_t kBlock = 64;  // wide rows whose sum stays exact enough in float
  const int64_t wide = positions_together(channels) * channels, elements = rows * channels;
  const Repeated means(mean, channels);
  std::fill_n(sums, channels, 0.0);
  for (int64_t begin = 0; begin < elements; begin += kBlock * wide) {
    std::fill_n(acc, wide, 0.0f);
    for (int64_t at = begin, end = std::min(elements, begin + kBlock * wide); at < end; at += wide) {
      const int64_t count = std::min(wide, end - at);
      if (mean)
        add_squared_distance(acc, x + at, means.data(), count);
      else
        fold(Fold::kSum, acc, x + at, count);
    }
    for (int64_t at = 0; at < wide; at += channels)
      for (int64_t c = 0; c < channels; ++c) sums[c] += acc[at + c];
  }
}

/// Each part of each image adds up its positions, or their squared distances from the means.
void add_positions(const Planes& p, const float* x, bool squares, const Space& space) {
  const int64_t length = (p.size + kParts - 1) / kParts, wide = positions_together(p.channels) * p.channels;
  parallel_for(p.images * kParts, std::max<int64_t>(1, kGrain / (length * p.channels)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t image = i / kParts, first = std::min(p.size, i % kParts * length);
                   const int64_t rows = std::min(p.size - first, length);
                   add_rows(x + (image * p.size + first) * p.channels, rows, p.channels,
                            squares ? space.means + image * p.channels : nullptr, space.rows + i * wide,
                            space.sums + i * p.channels);
                 }
               });
}

/// What the channels of a group of an image add up to, divided by how many elements they are.
double group_mean(const Planes& p, const Groups& g, const double* sums, int64_t group) {
  double sum = 0;
  for (int64_t part = 0; part < kParts; ++part)
    for (int64_t m = 0; m < g.members; ++m) sum += sums[part * p.channels + group * g.members + m];
  return sum / static_cast<double>(g.members * p.size);
}

void normalize_positions(const Planes& p, const Groups& g, const Buffers& b, const Space& space) {
  add_positions(p, b.in<float>(0), false, space);
  for (int64_t image = 0; image < p.images; ++image)
    for (int64_t k = 0; k < g.count; ++k)
      std::fill_n(space.means + image * p.channels + k * g.members, g.members,
                  static_cast<float>(group_mean(p, g, space.sums + image * kParts * p.channels, k)));
  add_positions(p, b.in<float>(0), true, space);
  for (int64_t image = 0; image < p.images; ++image)
    for (int64_t k = 0; k < g.count; ++k)
      finish(g, k, group_mean(p, g, space.sums + image * kParts * p.channels, k), b, space, image * p.channels);
  apply(p, {space.means, space.factor, space.add, true}, b.in<float>(0), b.out<float>(0));
}

Expected<PlannedStep> plan_group_norm(const Site& site) {
  const NodeView& view = site.view;
  if (view.get_int("stash_type", 1) != 1) return Decline{"not computed in float32"};
  const bool instance = view.node().op == "InstanceNormalization";
  const auto p = planes_of(site);
  if (!p) return p.error();
  const int64_t count = instance ? p->channels : view.get_int("num_groups");
  const bool by_group = !instance && view.opset() < 21;
  if (count < 1 || p->channels % count != 0) return Decline{"channels and groups do not fit"};
  if (!are_by_channel(site, 3, by_group ? count : p->channels)) return Decline{"scale does not fit the channels"};
  const Groups g{count, p->channels / count, by_group, view.get_float("epsilon", 1e-5f)};
  PlannedStep step{.out = {site.desc(0)}};
  step.in_place = 0;
  step.scratch_bytes = Space::bytes(*p);
  step.run = [p = *p, g](const Buffers& b) {
    const Space space(p, b.scratch);
    p.channels_last ? normalize_positions(p, g, b, space) : normalize_planes(p, g, b, space);
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "BatchNormalization", .plan = plan_batch_norm, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "InstanceNormalization", .plan = plan_group_norm, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "GroupNormalization", .plan = plan_group_norm, .layout = LayoutRule::kFollows},
};

}  // namespace

std::span<const Kernel> normalization_kernels() { return kKernels; }

}  // namespace mlopt::cpu
