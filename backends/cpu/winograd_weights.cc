#include "backends/cpu/winograd_weights.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

#include "core/base/align.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

constexpr int kMostPixels = 6 * 6;

using Line = std::array<double, 3>;

/// The points of tiles of 4 x 4, as in winograd_kernel.cc.
constexpr double kNear = 0.75, kFar = 1.5;
constexpr double kNearScale = 2 * kNear * kNear * (kNear * kNear - kFar * kFar);
constexpr double kFarScale = 2 * kFar * kFar * (kFar * kFar - kNear * kNear);
constexpr double kZeroScale = kNear * kNear * kFar * kFar;

/// G of the paper: what 3 weights become.
template <size_t n>
std::array<double, n> transformed(const Line& g) {
  if constexpr (n == 4)
    return {g[0], (g[0] + g[1] + g[2]) / 2, (g[0] - g[1] + g[2]) / 2, g[2]};
  else
    return {g[0] / kZeroScale,
            (g[0] + kNear * (g[1] + kNear * g[2])) / kNearScale,
            (g[0] - kNear * (g[1] - kNear * g[2])) / kNearScale,
            (g[0] + kFar * (g[1] + kFar * g[2])) / kFarScale,
            (g[0] - kFar * (g[1] - kFar * g[2])) / kFarScale,
            g[2]};
}

/// Its inverse.
Line restored(const double* u, int64_t step, int m) {
  if (m == 2) return {u[0], u[step] - u[2 * step], u[3 * step]};
  return {kZeroScale * u[0], (u[step] - u[2 * step]) * kNearScale / (2 * kNear), u[5 * step]};
}

/// The 3 x 3 weights from one channel to one other, element i to out[i * stride].
template <size_t n>
bool transform_weights(const float* g, float* out, int64_t stride) {
  std::array<std::array<double, n>, 3> half;
  for (size_t y = 0; y < 3; ++y) half[y] = transformed<n>({g[3 * y], g[3 * y + 1], g[3 * y + 2]});
  bool finite = true;
  for (size_t x = 0; x < n; ++x) {
    const auto column = transformed<n>({half[0][x], half[1][x], half[2][x]});
    for (size_t y = 0; y < n; ++y) {
      const auto u = static_cast<float>(column[y]);
      finite = finite && std::isfinite(u);
      out[static_cast<int64_t>(y * n + x) * stride] = u;
    }
  }
  return finite;
}

}  // namespace

int winograd_tile(const ConvShape& s, int threads) {
  constexpr int64_t kFewChannels = 16;
  const Window& w = s.window;
  if (s.src.size() != 4 || s.groups != 1 || w.kernel != Dims{3, 3} || w.strides != Dims{1, 1} ||
      w.dilations != Dims{1, 1} || s.src[1] < kFewChannels || s.dst[1] < kFewChannels)
    return 0;
  // Costs in multiplications of one core, measured: what streaming a weight costs all of them, what a channel of a
  // tile costs to transform, and how much slower our products are than those of a direct convolution.
  constexpr double kWeight = 20, kTransform[] = {250, 600}, kProduct = 1.1, kWorthIt = 1.2;
  const double c = static_cast<double>(s.src[1]), k = static_cast<double>(s.dst[1]), t = std::max(1, threads);
  double best = (9 * c * k * static_cast<double>(s.dst[0] * s.dst[2] * s.dst[3]) / t + 9 * c * k * kWeight) / kWorthIt;
  int found = 0;
  for (const int m : {2, 4}) {
    const auto n = static_cast<double>((m + 2) * (m + 2));
    const auto tiles = static_cast<double>(s.dst[0] * ceil_div(s.dst[2], m) * ceil_div(s.dst[3], m));
    const double cost = tiles * (kProduct * n * c * k + (c + k) * kTransform[m / 4]) / t + n * c * k * kWeight;
    if (cost >= best) continue;
    best = cost;
    found = m;
  }
  return found;
}

WinogradWeights::WinogradWeights(const float* weights, int64_t channels_out, int64_t channels, int m) : m_(m) {
  std::atomic<bool> all_finite = true;
  const int64_t n = m + 2, size = channels_out * channels;
  std::vector<float> elements(static_cast<size_t>(n * n * size));
  parallel_for(size, 4096, [&](int64_t begin, int64_t end) {
    bool finite = true;
    for (int64_t i = begin; i < end; ++i)
      finite &= m == 2 ? transform_weights<4>(weights + 9 * i, elements.data() + i, size)
                       : transform_weights<6>(weights + 9 * i, elements.data() + i, size);
    if (!finite) all_finite = false;
  });
  finite_ = all_finite;
  for (int64_t i = 0; i < n * n; ++i)
    products_.emplace_back(MatrixView{elements.data() + i * size, 1, channels}, channels, channels_out);
}

void WinogradWeights::restore(int64_t k, int64_t c, float* weights) const {
  const int64_t n = m_ + 2;
  std::array<double, kMostPixels> u{}, half{};
  for (int64_t i = 0; i < n * n; ++i) {
    const PanelLayout& l = product(i).layout();
    const int64_t panel = k / l.width;
    u[static_cast<size_t>(i)] = product(i).data()[l.offset_of(panel) + c * l.width_of(panel) + k % l.width];
  }
  for (int64_t x = 0; x < n; ++x) {
    const Line line = restored(&u[static_cast<size_t>(x)], n, m_);
    for (int64_t y = 0; y < 3; ++y) half[static_cast<size_t>(y * n + x)] = line[static_cast<size_t>(y)];
  }
  for (int64_t y = 0; y < 3; ++y) {
    const Line line = restored(&half[static_cast<size_t>(y * n)], 1, m_);
    for (size_t x = 0; x < 3; ++x) weights[static_cast<size_t>(3 * y) + x] = static_cast<float>(line[x]);
  }
}

}  // namespace mlopt::cpu
