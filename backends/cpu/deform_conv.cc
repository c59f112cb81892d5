// DeformConv of float32 pictures. Channels-last, what a tap reads between four pixels is a weighted sum of four rows
// of channels. Blocks of positions with all that their windows read are the left matrices of products with the weights.
#include <fmt/core.h>

#include <algorithm>

#include "backends/cpu/conv_shape.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/packed_product.h"
#include "backends/cpu/pool_taps.h"
#include "core/base/align.h"
#include "core/base/parallel.h"
#include "core/exec/weight_cache.h"

namespace mlopt::cpu {
namespace {

enum Input { kSource, kWeights, kOffsets, kBias, kMask };

constexpr int64_t kMostRows = 56;  // of a block: whole tiles of any instruction set, or nearly

struct Deform {
  ConvShape shape;
  int64_t offset_groups;
  int64_t block = 1;  ///< positions, of any picture, whose windows are sampled and multiplied at a time

  int64_t channels() const { return shape.src[1]; }
  int64_t taps() const { return element_count(shape.window.kernel); }
  int64_t plane() const { return shape.dst[2] * shape.dst[3]; }  ///< positions of a picture
  int64_t positions() const { return shape.dst[0] * plane(); }
  int64_t blocks() const { return ceil_div(positions(), block); }
  int64_t depth() const { return taps() * channels(); }
  /// Elements between the windows of neighbours: a multiple of a cache line, and seldom one of a page, whose rows would
  /// share a few sets of the nearest cache.
  int64_t pitch() const { return round_up(depth(), 16) + 16; }
};

/// Positions of a block. It does not depend on the threads, for the tiles of a product, and so the order of its sums,
/// depend on the block's size.
int64_t block_of(const Deform& d) {
  constexpr int64_t kFewRows = 14, kBlocks = 8, kCached = 256 * 1024;  // the last: elements of windows
  const int64_t most = std::clamp(kCached / d.depth(), kFewRows, kMostRows);
  const int64_t blocks = ceil_div(d.positions(), std::clamp(d.positions() / kBlocks, kFewRows, most));
  return ceil_div(d.positions(), blocks);
}

/// A position of the output, and what its window reads.
struct Place {
  const float *picture, *offsets, *mask;  ///< the last two: of the first tap; `mask` may be null
  int64_t y, x;                           ///< of the first tap without its offset
};

Place place_of(const Deform& d, const Buffers& b, bool masked, int64_t position) {
  const Window& w = d.shape.window;
  const int64_t image = position / d.plane(), at = position % d.plane(), columns = d.shape.dst[3];
  const int64_t maps = d.offset_groups * d.taps(), first = image * maps * d.plane() + at;
  return {b.in<float>(kSource) + image * element_count(d.shape.src) / d.shape.src[0],
          b.in<float>(kOffsets) + first + image * maps * d.plane(), masked ? b.in<float>(kMask) + first : nullptr,
          at / columns * w.strides[0] - w.begin[0], at % columns * w.strides[1] - w.begin[1]};
}

/// A picture [height, width, pitch], of which some channels are read.
struct Picture {
  const float* data;
  int64_t height, width, pitch, channels;
};

/// out[channels] = what lies at (y, x) between pixels, times `factor`. Of a pixel inside, a share of 0 is read too, and
/// where nothing is, the factor counts: both tell of infinities, as in the reference.
void sample(const Picture& p, double y, double x, double factor, float* out) {
  if (!(y > -1 && y < static_cast<double>(p.height) && x > -1 && x < static_cast<double>(p.width))) {
    std::fill_n(out, p.channels, static_cast<float>(0 * factor));
    return;
  }
  const int64_t top = y < 0 ? -1 : static_cast<int64_t>(y), left = x < 0 ? -1 : static_cast<int64_t>(x);
  const double below = y - static_cast<double>(top), right = x - static_cast<double>(left);
  const float* taps[4];
  float shares[4];
  int64_t count = 0;
  const auto add = [&](bool inside, int64_t at, double share) {
    if (!inside) return;
    taps[count] = p.data + at;
    shares[count++] = static_cast<float>(share * factor);
  };
  const bool high = top >= 0, low = top + 1 < p.height, before = left >= 0, behind = left + 1 < p.width;
  const int64_t row = p.width * p.pitch, at = top * row + left * p.pitch;
  add(high && before, at, (1 - below) * (1 - right));
  add(high && behind, at + p.pitch, (1 - below) * right);
  add(low && before, at + row, below * (1 - right));
  add(low && behind, at + row + p.pitch, below * right);
  weighted_taps(taps, shares, count, out, p.channels);
}

/// windows[count, pitch()], of each position [taps, channels].
void sample_windows(const Deform& d, const Place* places, int64_t count, float* windows) {
  const Window& w = d.shape.window;
  const int64_t channels = d.channels() / d.offset_groups, taps = d.taps(), plane = d.plane(), pitch = d.pitch();
  for (int64_t group = 0; group < d.offset_groups; ++group)
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t map = (group * taps + tap) * plane;
      const int64_t down = tap / w.kernel[1] * w.dilations[0], along = tap % w.kernel[1] * w.dilations[1];
      float* out = windows + tap * d.channels() + group * channels;
      for (int64_t i = 0; i < count; ++i, out += pitch) {
        const Place& at = places[i];
        sample({at.picture + group * channels, d.shape.src[2], d.shape.src[3], d.channels(), channels},
               static_cast<double>(at.y + down) + static_cast<double>(at.offsets[2 * map]),
               static_cast<double>(at.x + along) + static_cast<double>(at.offsets[2 * map + plane]),
               at.mask ? static_cast<double>(at.mask[map]) : 1, out);
      }
    }
}

/// The right matrix [taps * channels, filters] of each group.
using Matrices = std::vector<std::shared_ptr<const PackedMatrix>>;

/// Of the weights [M, C / groups, taps].
Matrices packed_weights(const Deform& d, const float* weights) {
  const int64_t groups = d.shape.groups, m = d.shape.channels_out() / groups, c = d.channels() / groups,
                taps = d.taps(), depth = c * taps;
  std::vector<float> turned(static_cast<size_t>(m * depth));
  Matrices packed;
  for (int64_t group = 0; group < groups; ++group, weights += m * depth) {
    float* out = turned.data();
    for (int64_t filter = 0; filter < m; ++filter)
      for (int64_t tap = 0; tap < taps; ++tap)
        for (int64_t k = 0; k < c; ++k) *out++ = weights[(filter * c + k) * taps + tap];
    packed.push_back(std::make_shared<const PackedMatrix>(MatrixView{turned.data(), 1, depth}, depth, m));
  }
  return packed;
}

/// What stands for weights that only a run gives: products with them need the same room.
Matrices zero_weights(const Deform& d) {
  const float zero = 0;
  const int64_t groups = d.shape.groups;
  return {std::make_shared<const PackedMatrix>(MatrixView{&zero, 0, 0}, d.depth() / groups,
                                               d.shape.channels_out() / groups)};
}

/// For each group: of a whole block, and of the positions that are left for the last.
struct Products {
  std::vector<ProductPlan> whole, rest;

  size_t workspace_bytes() const {
    return aligned_size(std::max(whole[0].workspace_bytes(), rest[0].workspace_bytes()));
  }
};

Products products_of(const Deform& d, const Matrices& weights) {
  Products products;
  for (const auto& right : weights) {
    ProductShape shape{d.block, right->layout().columns, right->layout().depth};
    if (d.shape.groups > 1) {  // its channels lie between those of others, tap by tap
      shape.pieces = d.taps();
      shape.piece_stride = d.channels();
    }
    products.whole.emplace_back(shape, right, 1);
    shape.m = d.positions() % d.block;
    products.rest.emplace_back(shape, right, 1);
  }
  return products;
}

struct DeformConv {
  Deform how;
  bool bias, masked;
  int64_t workers;
  size_t window_bytes, worker_bytes;  ///< of a block's windows, and of them and a product's workspace

  void run(const Buffers& b, const Products& products) const {
    take_turns(workers, how.blocks(), [&](int64_t worker, int64_t i) {
      run_block(b, products, i, b.scratch + static_cast<size_t>(worker) * worker_bytes);
    });
  }

  void run_block(const Buffers& b, const Products& products, int64_t i, std::byte* room) const {
    const int64_t first = i * how.block, count = std::min(how.block, how.positions() - first);
    Place places[kMostRows];
    for (int64_t k = 0; k < count; ++k) places[k] = place_of(how, b, masked, first + k);
    auto* windows = reinterpret_cast<float*>(room);
    sample_windows(how, places, count, windows);
    const int64_t groups = how.shape.groups, filters = how.shape.channels_out(), each = filters / groups;
    const auto& plans = count == how.block ? products.whole : products.rest;
    for (int64_t group = 0; group < groups; ++group)
      plans[static_cast<size_t>(group)].run({.a = {windows + group * how.channels() / groups, how.pitch(), 1},
                                             .c = b.out<float>(0) + first * filters + group * each,
                                             .c_stride = filters,
                                             .bias = bias ? b.in<float>(kBias) + group * each : nullptr},
                                            room + window_bytes);
  }
};

Expected<Deform> deform_of(const Site& site) {
  const TensorDesc &x = site.desc(kSource), &w = site.desc(kWeights), &offsets = site.desc(kOffsets);
  for (const auto& desc : site.in)
    if (desc && desc->dtype != DType::kF32) return Decline{"not float32"};
  if (x.dims.size() != 4) return Decline{"not two spatial axes"};
  auto shape = conv_shape(site.view, x.dims, w.dims);
  if (!shape) return shape.error();
  if (x.size() == 0 || element_count(shape->dst) == 0) return Decline{"empty"};
  Deform d{*std::move(shape), site.view.get_int("offset_group", 1)};
  if (d.offset_groups < 1 || d.channels() % d.offset_groups != 0) return Decline{"the offset groups do not fit"};
  const int64_t maps = d.offset_groups * d.taps();
  const auto of_maps = [&](int64_t count) { return Dims{x.dims[0], count, d.shape.dst[2], d.shape.dst[3]}; };
  if (offsets.dims != of_maps(2 * maps)) return Decline{"the offsets do not fit"};
  if (site.has(kMask) && site.desc(kMask).dims != of_maps(maps)) return Decline{"the mask does not fit"};
  if (site.has(kBias) && site.desc(kBias).dims != Dims{w.dims[0]}) return Decline{"the bias does not fit"};
  d.block = block_of(d);
  return d;
}

int64_t workers_for(const Deform& d, int threads) {
  constexpr int64_t kGrain = 1 << 16;  // multiplications below which a second thread costs more than it brings
  const int64_t work = d.positions() * d.depth() / d.shape.groups * d.shape.channels_out();
  return std::clamp<int64_t>(std::min(work / kGrain, d.blocks()), 1, std::max(1, threads));
}

Expected<PlannedStep> plan(const Site& site) {
  const auto how = deform_of(site);
  if (!how) return how.error();
  const Tensor* w = site.constant(kWeights);
  const auto weights =
      w ? shared_weights<Matrices>(
              site.context.weights, *w, fmt::format("deformed, {} groups", how->shape.groups),
              [&] { return std::make_shared<Matrices>(packed_weights(*how, w->aligned().data<float>())); })
        : std::make_shared<Matrices>(zero_weights(*how));
  const auto products = std::make_shared<const Products>(products_of(*how, *weights));
  const size_t window_bytes = aligned_size(static_cast<size_t>(how->block * how->pitch()) * sizeof(float));
  const DeformConv conv{*how,
                        site.has(kBias),
                        site.has(kMask),
                        workers_for(*how, site.context.threads),
                        window_bytes,
                        window_bytes + products->workspace_bytes()};
  PlannedStep step{.out = {{DType::kF32, how->shape.dst, mlopt::Layout::kChannelsLast}}};
  step.in.assign(site.in.size(), mlopt::Layout::kRowMajor);
  step.in[kSource] = mlopt::Layout::kChannelsLast;
  step.scratch_bytes = static_cast<size_t>(conv.workers) * conv.worker_bytes;
  if (!w) {
    step.run = [conv](const Buffers& b) {
      conv.run(b, products_of(conv.how, packed_weights(conv.how, b.in<float>(kWeights))));
    };
    return step;
  }
  step.packed = {kWeights};
  for (const auto& right : *weights) step.packed_bytes += right->bytes();
  step.run = [conv, products](const Buffers& b) { conv.run(b, *products); };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "DeformConv", .plan = plan, .layout = LayoutRule::kChannelsLast}};

}  // namespace

std::span<const Kernel> deform_conv_kernels() { return kKernels; }

}  // namespace mlopt::cpu
