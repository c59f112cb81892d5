// Conv and com.microsoft.FusedConv along one axis: a matrix product of tiles of our own. Channels-last, what a window
// covers lies in one piece, so that the windows are the rows of a matrix, which overlap.
#include <algorithm>

#include "backends/cpu/conv_site.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/matmul.h"
#include "backends/cpu/packed_product.h"
#include "core/base/align.h"
#include "core/base/parallel.h"
#include "core/exec/weight_cache.h"

namespace mlopt::cpu {
namespace {

/// The input as lines of positions that are convolved alike; `before` and `after` are positions of padding.
struct Lines {
  int64_t count, positions, before, after, channels;

  bool padded() const { return before + after > 0; }
  int64_t pitch() const { return (before + positions + after) * channels; }  ///< elements
  size_t padded_bytes() const { return padded() ? static_cast<size_t>(count * pitch()) * sizeof(float) : 0; }
};

/// The innermost axis that is convolved or has several positions; all others must have one tap and no padding.
Expected<size_t> line_axis(const ConvShape& shape) {
  const Window& w = shape.window;
  size_t axis = w.kernel.size() - 1;
  const auto is_still = [&](size_t i) { return w.kernel[i] == 1 && w.begin[i] + w.end[i] == 0; };
  while (axis > 0 && is_still(axis) && shape.src[axis + 2] == 1) --axis;
  for (size_t i = 0; i < axis; ++i)
    if (!is_still(i)) return Decline{"a window over several axes"};
  if (w.dilations[axis] != 1 && w.kernel[axis] > 1) return Decline{"a window with gaps"};
  return axis;
}

Lines lines_of(const ConvShape& shape, size_t axis) {
  const Dims& src = shape.src;
  const auto at = src.begin() + 2 + static_cast<std::ptrdiff_t>(axis);
  return {src[0] * element_count(Dims(src.begin() + 2, at)), *at, shape.window.begin[axis], shape.window.end[axis],
          src[1]};
}

ProductShape product_shape(const ConvShape& shape, size_t axis, const Lines& lines) {
  const int64_t positions = shape.dst[axis + 2], channels = shape.channels_out();
  ProductShape p{positions, channels, shape.window.kernel[axis] * lines.channels, {}};
  BatchAxis step{1, lines.pitch(), 0, positions * channels};
  for (size_t i = axis; i-- > 0;) {
    const int64_t count = shape.dst[i + 2];
    p.batch.insert(p.batch.begin(), {count, step.a * shape.window.strides[i], 0, step.c});
    step = {1, step.a * shape.src[i + 2], 0, step.c * count};
  }
  p.batch.insert(p.batch.begin(), {shape.dst[0], step.a, 0, step.c});
  return p;
}

/// Weights [M, C, taps] as the right matrix [taps C, M].
std::shared_ptr<const PackedMatrix> packed_windows(const Site& site, const ConvShape& shape) {
  const Tensor& w = *site.constant(ConvSite::kWeights);
  const int64_t m = w.dim(0), c = w.dim(1), taps = element_count(shape.window.kernel);
  return shared_weights<PackedMatrix>(site.context.weights, w, "tiles of windows", [=] {
    const Tensor source = w.aligned();
    std::vector<float> windows(static_cast<size_t>(m * c * taps));
    float* out = windows.data();
    for (int64_t row = 0; row < m; ++row)
      for (int64_t tap = 0; tap < taps; ++tap)
        for (int64_t k = 0; k < c; ++k) *out++ = source.data<float>()[(row * c + k) * taps + tap];
    return std::make_shared<PackedMatrix>(MatrixView{windows.data(), 1, c * taps}, c * taps, m);
  });
}

void pad(const Lines& lines, const float* src, float* dst) {
  constexpr int64_t kGrain = 32768;  // elements below which a second thread costs more than it brings
  parallel_for(lines.count, ceil_div(kGrain, lines.pitch()), [&](int64_t begin, int64_t end) {
    const int64_t row = lines.positions * lines.channels;
    for (int64_t i = begin; i < end; ++i) {
      float* out = std::fill_n(dst + i * lines.pitch(), lines.before * lines.channels, 0.0f);
      std::fill_n(std::copy_n(src + i * row, row, out), lines.after * lines.channels, 0.0f);
    }
  });
}

/// From few channels to a vector or more of them, as in the first layer for a sound. oneDNN goes tap by tap there, on
/// any processor.
bool is_first_layer(const Lines& lines, const ProductShape& product) {
  constexpr int64_t kFewChannels = 4, kVector = 16;
  return lines.channels < kFewChannels && product.n >= kVector;
}

/// Has oneDNN less pieces than threads? It shares out images, outer axes and blocks of output channels, but no line.
bool leaves_threads_idle(const ConvShape& shape, size_t axis, int threads) {
  constexpr int64_t kBlock = 64;
  int64_t pieces = shape.dst[0] * ceil_div(shape.channels_out(), kBlock);
  for (size_t i = 0; i < axis; ++i) pieces *= shape.dst[i + 2];
  return pieces < threads;
}

/// Copies between layouts and into the padding are nothing beside the product, or not needed.
bool pays(const Site& site, const ConvSite& conv, const Lines& lines, const ProductShape& product) {
  constexpr int64_t kUses = 64;  // of an element
  if (lines.padded() && lines.count * lines.pitch() > kUses * element_count(conv.shape.dst)) return false;
  return is_channels_last(site, conv) || std::min(product.k, product.k / lines.channels * product.n) >= kUses;
}

Expected<PlannedStep> plan_line(const Site& site) {
  const auto conv = constant_conv(site);
  if (!conv) return conv.error();
  const ConvShape& shape = conv->shape;
  if (shape.groups != 1) return Decline{"groups"};
  const auto axis = line_axis(shape);
  if (!axis) return axis.error();
  const Lines lines = lines_of(shape, *axis);
  const ProductShape product = product_shape(shape, *axis, lines);
  const bool tiles = is_first_layer(lines, product) || leaves_threads_idle(shape, *axis, site.context.threads) ||
                     prefers_tiles(product.m, product.k, product.n, true);
  if (!tiles || !pays(site, *conv, lines, product)) return Decline{"oneDNN is faster"};
  const auto weights = packed_windows(site, shape);
  const auto plan = std::make_shared<const ProductPlan>(product, weights, site.context.threads);
  PlannedStep step = channels_last_step(site, *conv);
  const size_t room = aligned_size(plan->workspace_bytes());
  step.scratch_bytes = room + lines.padded_bytes();
  step.packed_bytes = weights->bytes();
  step.run = [=, stride = shape.window.strides[*axis], act = conv->act, bias = conv->bias,
              addend = conv->addend](const Buffers& b) {
    const auto* src = b.in<float>(ConvSite::kSource);
    if (lines.padded()) {
      auto* padded = reinterpret_cast<float*>(b.scratch + room);
      pad(lines, src, padded);
      src = padded;
    }
    plan->run({.a = {src, stride * lines.channels, 1},
               .c = b.out<float>(0),
               .c_stride = product.n,
               .addend = addend ? b.in<float>(ConvSite::kAddend) : nullptr,
               .addend_stride = product.n,
               .bias = bias ? b.in<float>(ConvSite::kBias) : nullptr,
               .activation = act},
              b.scratch);
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Conv", .plan = plan_line, .layout = LayoutRule::kChannelsLast},
    {.domain = "com.microsoft", .op = "FusedConv", .plan = plan_line, .layout = LayoutRule::kChannelsLast},
};

}  // namespace

std::span<const Kernel> conv_line_kernels() { return kKernels; }

}  // namespace mlopt::cpu
