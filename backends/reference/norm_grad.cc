#include <cmath>

#include "backends/reference/kernels.h"
#include "backends/reference/normalization.h"

namespace mlopt::reference {
namespace {

/// Inputs x, dy, scale in the compute type, and the gradients of x, scale and bias.
struct Grads {
  Tensor x, dy, dx;
  std::vector<double> scale, dscale, dbias;
};

Grads read(const Call& call, int64_t scales) {
  Grads g{widened(call.in(0)), widened(call.in(1)), {}, per_channel(call, 2, scales), {}, {}};
  require(call, g.x.dims() == g.dy.dims() && g.x.dtype() == g.dy.dtype(), "x and dy must be of one type");
  g.dx = Tensor(g.x.dtype(), g.x.dims());
  g.dscale = g.dbias = std::vector<double>(g.scale.size());
  return g;
}

void write(Call& call, const Grads& g) {
  const Tensor& scale = call.in(2);
  call.set(0, as(g.dx, call.in(0).dtype()));
  call.set(1, as(Tensor::of(scale.dims(), g.dscale), scale.dtype()));
  call.set(2, as(Tensor::of(scale.dims(), g.dbias), scale.dtype()));
}

/// Inputs also a mean and a variance where these are fixed; otherwise they are the batch's.
void batch_norm_grad(Call& call, const MeanOverRanks& mean_over_ranks) {
  const ChannelView view = channel_view(call, call.in(0).dims());
  Grads g = read(call, view.channels);
  const double epsilon = call.view.get_float("epsilon", 1e-5f), count = static_cast<double>(view.batch * view.inner);
  const bool fixed = call.has(3);
  std::vector<Moments> used(g.scale.size());
  if (fixed) {
    const std::vector<double> mean = per_channel(call, 3, view.channels),
                              variance = per_channel(call, 4, view.channels);
    for (size_t c = 0; c < used.size(); ++c) used[c] = {mean[c], variance[c]};
  }
  with_float(call, g.x.dtype(), [&](auto tag) {
    using T = decltype(tag);
    const T *x = g.x.data<T>(), *dy = g.dy.data<T>();
    T* dx = g.dx.mutable_data<T>();
    if (!fixed) {
      used = channel_moments(x, view);
      share_moments(used, mean_over_ranks);
    }
    /// Calls fn(channel, element, its normal form, its gradient, 1 / deviation).
    const auto each = [&](const auto& fn) {
      parallel_for(view.channels, 1, [&](int64_t begin, int64_t end) {
        for (int64_t channel = begin; channel < end; ++channel) {
          const auto c = static_cast<size_t>(channel);
          const double inverse = 1 / std::sqrt(used[c].variance + epsilon);
          for (int64_t n = 0; n < view.batch; ++n)
            for (int64_t i = (n * view.channels + channel) * view.inner, k = 0; k < view.inner; ++i, ++k)
              fn(c, i, (static_cast<double>(x[i]) - used[c].mean) * inverse, static_cast<double>(dy[i]), inverse);
        }
      });
    };
    each([&](size_t c, int64_t, double normal, double grad, double) {
      g.dscale[c] += grad * normal;
      g.dbias[c] += grad;
    });
    std::vector<double> means(2 * g.scale.size());  // of dy, and of dy times the normal form
    for (size_t c = 0; !fixed && c < g.scale.size(); ++c) {
      means[2 * c] = g.dbias[c] / count;
      means[2 * c + 1] = g.dscale[c] / count;
    }
    if (!fixed && mean_over_ranks) mean_over_ranks(means);
    each([&](size_t c, int64_t i, double normal, double grad, double inverse) {
      dx[i] = static_cast<T>(g.scale[c] * inverse * (grad - means[2 * c] - normal * means[2 * c + 1]));
    });
  });
  write(call, g);
}

/// `runs` of `length` elements, each normalized by itself; element i of a run has the factor factor_of(run, i).
template <class FactorOf>
void normalized_runs(const Call& call, Grads& g, int64_t runs, int64_t length, bool centered,
                     const FactorOf& factor_of) {
  const double epsilon = call.view.get_float("epsilon", 1e-5f), count = static_cast<double>(length);
  with_float(call, g.x.dtype(), [&](auto tag) {
    using T = decltype(tag);
    const T *x = g.x.data<T>(), *dy = g.dy.data<T>();
    T* dx = g.dx.mutable_data<T>();
    for (int64_t run = 0; run < runs; ++run, x += length, dy += length, dx += length) {
      Moments m = moments(x, length);
      if (!centered) m = {0, m.variance + m.mean * m.mean};
      const double inverse = 1 / std::sqrt(m.variance + epsilon);
      const auto each = [&](const auto& fn) {
        for (int64_t i = 0; i < length; ++i)
          fn(i, static_cast<size_t>(factor_of(run, i)), (static_cast<double>(x[i]) - m.mean) * inverse,
             static_cast<double>(dy[i]));
      };
      double shared = 0, along = 0;
      each([&](int64_t, size_t f, double normal, double grad) {
        g.dscale[f] += grad * normal;
        g.dbias[f] += grad;
        shared += grad * g.scale[f];
        along += grad * g.scale[f] * normal;
      });
      shared = centered ? shared / count : 0;
      each([&](int64_t i, size_t f, double normal, double grad) {
        dx[i] = static_cast<T>(inverse * (grad * g.scale[f] - shared - normal * along / count));
      });
    }
  });
}

/// The axes from `axis` on are normalized together, scale has their shape.
void layer_norm_grad(Call& call) {
  const Dims& dims = call.in(0).dims();
  const int axis = axis_of(call, call.view.get_int("axis", -1), static_cast<int64_t>(dims.size()));
  const int64_t length = element_count(Dims(dims.begin() + axis, dims.end()));
  Grads g = read(call, length);
  normalized_runs(call, g, length == 0 ? 0 : g.x.size() / length, length, call.view.get_int("centered", 1) != 0,
                  [](int64_t, int64_t i) { return i; });
  write(call, g);
}

/// `num_groups` runs of channels of each sample; scale has an element for each channel.
void group_norm_grad(Call& call) {
  const ChannelView view = channel_view(call, call.in(0).dims());
  const int64_t groups = call.view.get_int("num_groups");
  require(call, groups > 0 && view.channels % groups == 0, "num_groups must divide the channels");
  Grads g = read(call, view.channels);
  const int64_t in_group = view.channels / groups;
  normalized_runs(call, g, view.batch * groups, in_group * view.inner, true,
                  [&](int64_t run, int64_t i) { return run % groups * in_group + i / view.inner; });
  write(call, g);
}

constexpr Kernel kKernels[] = {
    {"mlopt", "BatchNormGrad", nullptr, compile_with_ranks<batch_norm_grad>},
    {"mlopt", "GroupNormGrad", group_norm_grad},
    {"mlopt", "LayerNormGrad", layer_norm_grad},
};

}  // namespace

std::span<const Kernel> norm_grad_kernels() { return kKernels; }

}  // namespace mlopt::reference
