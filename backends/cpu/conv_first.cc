// Conv and com.microsoft.FusedConv of a picture of few channels, as networks begin: a matrix product of tiles of our
// own. What it sees is copied into its padding, channel by channel, where each row of a window lies in one piece.
#include <algorithm>

#include "backends/cpu/conv_site.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/packed_product.h"
#include "core/base/align.h"
#include "core/base/parallel.h"
#include "core/exec/weight_cache.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kFewChannels = 3;

/// Rows of a picture's output that a thread computes at a time, with a copy of what they see in the nearest cache:
/// [rows, channels, columns], padded.
struct Bands {
  ConvShape shape;
  int64_t out_rows;  ///< of a band; the last one may have less
  int64_t columns;   ///< of the copy

  int64_t channels() const { return shape.src[1]; }
  int64_t pitch() const { return columns * channels(); }
  int64_t in_rows(int64_t out) const { return (out - 1) * shape.window.strides[0] + shape.window.kernel[0]; }
  int64_t of_picture() const { return ceil_div(shape.dst[2], out_rows); }
  int64_t elements() const { return round_up(in_rows(out_rows) * pitch(), 16); }
};

Bands bands_of(const ConvShape& shape, int threads) {
  constexpr int64_t kCached = 6 * 1024, kBandsPerThread = 4;  // elements, which leave room for weights and results
  const int64_t columns = shape.src[3] + shape.window.begin[1] + shape.window.end[1], height = shape.dst[2];
  Bands bands{shape, 1, columns};
  const int64_t most = kCached / (bands.pitch() * shape.window.strides[0]);
  bands.out_rows = std::clamp<int64_t>(most, 1, ceil_div(height, threads > 1 ? kBandsPerThread * threads : 1));
  return bands;
}

/// What `rows` rows of the output from row `first` on see of a picture.
void copy(const Bands& b, const float* picture, int64_t first, int64_t rows, float* dst) {
  const Window& w = b.shape.window;
  const int64_t height = b.shape.src[2], width = b.shape.src[3];
  const int64_t above = first * w.strides[0] - w.begin[0];
  for (int64_t y = above; y < above + b.in_rows(rows); ++y)
    for (int64_t c = 0; c < b.channels(); ++c) {
      const bool inside = y >= 0 && y < height;
      dst = std::fill_n(dst, inside ? w.begin[1] : b.columns, 0.0f);
      if (!inside) continue;
      dst = std::copy_n(picture + (c * height + y) * width, width, dst);
      dst = std::fill_n(dst, w.end[1], 0.0f);
    }
}

/// The products of a band of so many rows.
ProductShape product_shape(const Bands& b, int64_t rows) {
  const ConvShape& s = b.shape;
  const int64_t pieces = s.window.kernel[0] * b.channels();
  ProductShape product{s.dst[3], s.dst[1], pieces * s.window.kernel[1], {}, pieces, b.columns};
  product.batch = {{rows, s.window.strides[0] * b.pitch(), 0, s.dst[3] * s.dst[1]}};
  return product;
}

/// Weights [M, C, rows, columns] as the right matrix [rows C columns, M].
std::shared_ptr<const PackedMatrix> packed_weights(const Site& site) {
  const Tensor& w = *site.constant(ConvSite::kWeights);
  return shared_weights<PackedMatrix>(site.context.weights, w, "tiles of rows of windows", [&] {
    const Tensor source = w.aligned();
    const int64_t m = w.dim(0), c = w.dim(1), rows = w.dim(2), columns = w.dim(3), depth = c * rows * columns;
    std::vector<float> windows(static_cast<size_t>(m * depth));
    float* out = windows.data();
    for (int64_t filter = 0; filter < m; ++filter)
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t k = 0; k < c; ++k)
          out = std::copy_n(source.data<float>() + ((filter * c + k) * rows + row) * columns, columns, out);
    return std::make_shared<PackedMatrix>(MatrixView{windows.data(), 1, depth}, depth, m);
  });
}

/// oneDNN copies the picture to another layout and passes over the output once more for the activation, which costs
/// where that is larger than a cache and little is multiplied for each number. A panel of a single vector reads too
/// much for what it multiplies.
bool pays(const ConvShape& shape) {
  constexpr int64_t kFewTaps = 64, kManyOutputs = 1 << 18, kVector = 16, kFewPositions = 8;
  const int64_t rest = shape.dst[1] % (2 * kVector);
  return shape.src.size() == 4 && shape.src[1] <= kFewChannels && (rest == 0 || rest > kVector) &&
         shape.dst[3] >= kFewPositions && element_count(shape.dst) / shape.dst[0] >= kManyOutputs &&
         !shape.window.is_point() && element_count(shape.window.kernel) * shape.src[1] <= kFewTaps;
}

/// The products of bands: of a whole one, and of the rows that are left for the last.
class FirstConv {
 public:
  FirstConv(const ConvSite& conv, const std::shared_ptr<const PackedMatrix>& weights, int threads)
      : conv_(conv),
        bands_(bands_of(conv.shape, threads)),
        count_(conv.shape.dst[0] * bands_.of_picture()),
        workers_(std::min<int64_t>(threads, count_)),
        whole_(product_shape(bands_, bands_.out_rows), weights, 1),
        rest_(product_shape(bands_, conv.shape.dst[2] % bands_.out_rows), weights, 1) {}

  size_t workspace_bytes() const { return static_cast<size_t>(workers_ * bands_.elements()) * sizeof(float); }

  void run(const Buffers& b) const {
    take_turns(workers_, count_, [&](int64_t worker, int64_t i) {
      run_band(b, i, reinterpret_cast<float*>(b.scratch) + worker * bands_.elements());
    });
  }

 private:
  void run_band(const Buffers& b, int64_t i, float* copied) const {
    const ConvShape& s = conv_.shape;
    const int64_t picture = i / bands_.of_picture(), first = i % bands_.of_picture() * bands_.out_rows;
    const int64_t rows = std::min(bands_.out_rows, s.dst[2] - first);
    const int64_t out = (picture * s.dst[2] + first) * s.dst[3] * s.dst[1];
    copy(bands_, b.in<float>(ConvSite::kSource) + picture * element_count(s.src) / s.src[0], first, rows, copied);
    (rows == bands_.out_rows ? whole_ : rest_)
        .run({.a = {copied, s.window.strides[1], 1},
              .c = b.out<float>(0) + out,
              .c_stride = s.dst[1],
              .addend = conv_.addend ? b.in<float>(ConvSite::kAddend) + out : nullptr,
              .addend_stride = s.dst[1],
              .bias = conv_.bias ? b.in<float>(ConvSite::kBias) : nullptr,
              .activation = conv_.act},
             nullptr);
  }

  ConvSite conv_;
  Bands bands_;
  int64_t count_, workers_;
  ProductPlan whole_, rest_;
};

Expected<PlannedStep> plan_first(const Site& site) {
  const auto conv = constant_conv(site);
  if (!conv) return conv.error();
  const ConvShape& shape = conv->shape;
  if (shape.groups != 1 || element_count(shape.window.dilations) != 1) return Decline{"groups or gaps"};
  if (!pays(shape)) return Decline{"not from a picture of few channels to many"};
  if (site.layout != mlopt::Layout::kChannelsLast) return Decline{"not channels-last"};
  const auto weights = packed_weights(site);
  const auto plan = std::make_shared<const FirstConv>(*conv, weights, site.context.threads);
  PlannedStep step = channels_last_step(site, *conv);
  step.in[ConvSite::kSource] = mlopt::Layout::kRowMajor;
  step.scratch_bytes = plan->workspace_bytes();
  step.packed_bytes = weights->bytes();
  step.run = [plan](const Buffers& b) { plan->run(b); };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Conv", .plan = plan_first, .layout = LayoutRule::kChannelsLast},
    {.domain = "com.microsoft", .op = "FusedConv", .plan = plan_first, .layout = LayoutRule::kChannelsLast},
};

}  // namespace

std::span<const Kernel> conv_first_kernels() { return kKernels; }

}  // namespace mlopt::cpu
