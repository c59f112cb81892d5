#include "backends/reference/normalization.h"

#include <algorithm>
#include <cmath>

#include "backends/reference/kernels.h"
#include "backends/reference/reduce.h"

namespace mlopt::reference {
namespace {

/// Training mode: outputs 1 and 2 are the running statistics, 3 and 4 (before opset 14) those of this batch.
void set_statistics(Call& call, const std::vector<Moments>& batch, const std::vector<Moments>& running) {
  const double momentum = call.view.get_float("momentum", 0.9f);
  const auto count = static_cast<int64_t>(batch.size());
  Tensor outs[4];
  for (Tensor& out : outs) out = Tensor(DType::kF64, {count});
  for (size_t c = 0; c < batch.size(); ++c) {
    outs[0].mutable_data<double>()[c] = running[c].mean * momentum + batch[c].mean * (1 - momentum);
    outs[1].mutable_data<double>()[c] = running[c].variance * momentum + batch[c].variance * (1 - momentum);
    outs[2].mutable_data<double>()[c] = batch[c].mean;
    outs[3].mutable_data<double>()[c] = batch[c].variance;
  }
  for (int i = 0; i < 4; ++i) call.set(i + 1, as(outs[i], call.in(3).dtype()));
}

void batch_normalization(Call& call, const MeanOverRanks& mean_over_ranks) {
  const Tensor& x = call.in(0);
  ChannelView view = channel_view(call, x.dims());
  if (call.view.opset() < 9 && call.view.get_int("spatial", 1) == 0) view = {view.batch, view.channels * view.inner, 1};
  const std::vector<double> scale = per_channel(call, 1, view.channels), bias = per_channel(call, 2, view.channels);
  const std::vector<double> mean = per_channel(call, 3, view.channels), variance = per_channel(call, 4, view.channels);
  const double epsilon = call.view.get_float("epsilon", 1e-5f);
  const bool training = call.view.opset() >= 14 ? call.view.get_int("training_mode", 0) != 0 : call.output_count() > 1;
  with_float(call, x.dtype(), [&](auto tag) {
    using T = decltype(tag);
    const Tensor wide = widened(x);
    const T* in = wide.data<T>();
    std::vector<Moments> used(mean.size());
    for (size_t c = 0; c < mean.size(); ++c) used[c] = {mean[c], variance[c]};
    if (training) {
      std::vector<Moments> batch = channel_moments(in, view);
      share_moments(batch, mean_over_ranks);
      set_statistics(call, batch, used);
      used = batch;
    }
    Tensor out(wide.dtype(), x.dims());
    T* o = out.mutable_data<T>();
    parallel_for(view.batch * view.channels, 1 + 8192 / std::max<int64_t>(1, view.inner),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t plane = begin; plane < end; ++plane) {
                     const auto c = static_cast<size_t>(plane % view.channels);
                     const double factor = scale[c] / std::sqrt(used[c].variance + epsilon);
                     for (int64_t i = plane * view.inner; i < (plane + 1) * view.inner; ++i)
                       o[i] = static_cast<T>((static_cast<double>(in[i]) - used[c].mean) * factor + bias[c]);
                   }
                 });
    call.set(0, as(out, x.dtype()));
  });
}

/// Each of `groups` runs of channels of each sample to zero mean and unit variance, then channel c times scale[c / per]
/// plus bias[c / per], `per` being the channels that share a factor.
void normalize_groups(Call& call, int64_t groups, int64_t per) {
  const Tensor& x = call.in(0);
  const ChannelView view = channel_view(call, x.dims());
  const std::vector<double> scale = per_channel(call, 1, view.channels / per),
                            bias = per_channel(call, 2, view.channels / per);
  const double epsilon = call.view.get_float("epsilon", 1e-5f);
  const int64_t in_group = view.channels / groups, length = in_group * view.inner;
  with_float(call, x.dtype(), [&](auto tag) {
    using T = decltype(tag);
    const Tensor wide = widened(x);
    Tensor out(wide.dtype(), x.dims());
    T* o = out.mutable_data<T>();
    parallel_for(view.batch * groups, 1, [&](int64_t begin, int64_t end) {
      for (int64_t g = begin; g < end; ++g) {
        const T* in = wide.data<T>() + g * length;
        const Moments m = moments(in, length);
        const double factor = 1 / std::sqrt(m.variance + epsilon);
        for (int64_t i = 0; i < length; ++i) {
          const auto c = static_cast<size_t>((g % groups * in_group + i / view.inner) / per);
          o[g * length + i] = static_cast<T>((static_cast<double>(in[i]) - m.mean) * factor * scale[c] + bias[c]);
        }
      }
    });
    call.set(0, as(out, x.dtype()));
  });
}

void instance_normalization(Call& call) {
  require(call, call.in(0).rank() >= 2 && call.in(0).dim(1) > 0, "the input must have channels");
  normalize_groups(call, call.in(0).dim(1), 1);
}

/// Opset 18 has one factor for each group, opset 21 one for each channel.
void group_normalization(Call& call) {
  const int64_t groups = call.view.get_int("num_groups");
  const Tensor& x = call.in(0);
  require(call, x.rank() >= 2 && groups > 0 && x.dim(1) > 0 && x.dim(1) % groups == 0,
          "num_groups must divide the channels");
  normalize_groups(call, groups, call.view.opset() < 21 ? x.dim(1) / groups : 1);
}

/// x / (bias + alpha / size * sum of the squares of the neighbouring channels) ^ beta.
void local_response_normalization(Call& call) {
  const Tensor& x = call.in(0);
  require(call, x.rank() >= 2, "the input must have channels");
  const ChannelView view = channel_view(call, x.dims());
  const int64_t size = call.view.get_int("size");
  require(call, size > 0, "size must be positive");
  const double alpha = call.view.get_float("alpha", 1e-4f), beta = call.view.get_float("beta", 0.75f);
  const double bias = call.view.get_float("bias", 1.0f);
  with_float(call, x.dtype(), [&](auto tag) {
    using T = decltype(tag);
    const Tensor wide = widened(x);
    Tensor out(wide.dtype(), x.dims());
    const T* in = wide.data<T>();
    T* o = out.mutable_data<T>();
    parallel_for(view.batch * view.channels, 1, [&](int64_t begin, int64_t end) {
      for (int64_t plane = begin; plane < end; ++plane) {
        const int64_t c = plane % view.channels, first = plane - c;
        const int64_t low = std::max<int64_t>(0, c - (size - 1) / 2), high = std::min(view.channels - 1, c + size / 2);
        for (int64_t i = 0; i < view.inner; ++i) {
          double sum = 0;
          for (int64_t k = low; k <= high; ++k) {
            const auto value = static_cast<double>(in[(first + k) * view.inner + i]);
            sum += value * value;
          }
          const int64_t at = plane * view.inner + i;
          o[at] = static_cast<T>(static_cast<double>(in[at]) /
                                 std::pow(bias + alpha / static_cast<double>(size) * sum, beta));
        }
      }
    });
    call.set(0, as(out, x.dtype()));
  });
}

/// fn(each, write) for every group of elements over `axes`: each(f) gives f the elements, write(f) replaces each by f
/// of it.
template <class Fn>
void over_axes(Call& call, const std::vector<int64_t>& axes, const Fn& fn) {
  const Tensor& x = call.in(0);
  const Groups groups(x.dims(), marked_axes(call, axes, x.rank()));
  with_float(call, x.dtype(), [&](auto tag) {
    using T = decltype(tag);
    const Tensor wide = widened(x);
    Tensor out(wide.dtype(), x.dims());
    const T* in = wide.data<T>();
    T* o = out.mutable_data<T>();
    for (int64_t g = 0; g < groups.outputs(); ++g)
      fn([&](const auto& f) { groups.each(g, [&](int64_t i) { f(static_cast<double>(in[i])); }); },
         [&](const auto& f) {
           groups.each(g, [&](int64_t i) { o[i] = static_cast<T>(f(static_cast<double>(in[i]))); });
         },
         static_cast<double>(groups.count()));
    call.set(0, as(out, x.dtype()));
  });
}

void lp_normalization(Call& call) {
  const int64_t p = call.view.get_int("p", 2);
  require(call, p == 1 || p == 2, "p must be 1 or 2");
  over_axes(call, {call.view.get_int("axis", -1)}, [p](const auto& each, const auto& write, double) {
    double sum = 0;
    each([&](double x) { sum += p == 1 ? std::fabs(x) : x * x; });
    const double norm = p == 1 ? sum : std::sqrt(sum);
    write([&](double x) { return norm == 0 ? 0 : x / norm; });
  });
}

void mean_variance_normalization(Call& call) {
  constexpr double kEpsilon = 1e-9;  // the standard's, added to the deviation
  over_axes(call, call.view.get_ints("axes", {0, 2, 3}), [](const auto& each, const auto& write, double count) {
    double mean = 0, variance = 0;
    each([&](double x) { mean += x; });
    mean /= count;
    each([&](double x) { variance += (x - mean) * (x - mean); });
    const double deviation = std::sqrt(variance / count) + kEpsilon;
    write([&](double x) { return (x - mean) / deviation; });
  });
}

constexpr Kernel kKernels[] = {
    {"", "BatchNormalization", nullptr, compile_with_ranks<batch_normalization>},
    {"", "GroupNormalization", group_normalization},
    {"", "InstanceNormalization", instance_normalization},
    {"", "LRN", local_response_normalization},
    {"", "LpNormalization", lp_normalization},
    {"", "MeanVarianceNormalization", mean_variance_normalization},
};

}  // namespace

void share_moments(std::vector<Moments>& moments, const MeanOverRanks& mean_over_ranks) {
  if (!mean_over_ranks) return;
  std::vector<double> values;
  for (const Moments& m : moments) values.insert(values.end(), {m.mean, m.variance + m.mean * m.mean});
  mean_over_ranks(values);
  for (size_t c = 0; c < moments.size(); ++c)
    moments[c] = {values[2 * c], std::max(0.0, values[2 * c + 1] - values[2 * c] * values[2 * c])};
}

std::vector<double> per_channel(const Call& call, int i, int64_t count) {
  const Tensor& tensor = call.in(i);
  if (tensor.size() != count)
    fail(call, "input " + std::to_string(i) + " has " + std::to_string(tensor.size()) + " elements, " +
                   std::to_string(count) + " are needed");
  if (!is_float(tensor.dtype())) wrong_type(call, tensor.dtype());
  return to_doubles(tensor);
}

ChannelView channel_view(const Call& call, const Dims& dims) {
  require(call, !dims.empty(), "the input must have a batch dimension");
  ChannelView view{dims[0], dims.size() > 1 ? dims[1] : 1, 1};
  for (size_t i = 2; i < dims.size(); ++i) view.inner *= dims[i];
  return view;
}

std::span<const Kernel> normalization_kernels() { return kKernels; }

}  // namespace mlopt::reference
