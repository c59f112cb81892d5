#include "backends/cpu/winograd.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/align.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kLine = 16;  // elements of a cache line
/// Elements of the transformed source of a block of tiles, which is read once for each block of panels, and of their
/// products: both stay in the second cache.
constexpr int64_t kSourceBlock = 96 * 1024, kSumBlock = 32 * 1024;

/// Elements between the n * n parts of a block of so many elements: an odd number of cache lines, so that the same
/// place in all of them does not fall into one set of the cache.
int64_t apart(int64_t elements) { return (ceil_div(elements, kLine) | 1) * kLine; }

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int64_t kOutside = std::numeric_limits<int64_t>::min() / 4;

}  // namespace

WinogradPlan::WinogradPlan(ConvShape shape, std::shared_ptr<const WinogradWeights> weights, int threads)
    : shape_(std::move(shape)),
      weights_(std::move(weights)),
      transforms_(winograd_transforms(weights_->m())),
      kernels_(product_kernels()),
      rows_(ceil_div(shape_.dst[2], weights_->m())),
      columns_(ceil_div(shape_.dst[3], weights_->m())),
      tiles_(shape_.dst[0] * rows_ * columns_),
      pitch_(round_up(shape_.src[1], kLine)) {
  const int64_t panels = weights_->product(0).layout().panels(), most = std::max(1, threads);
  // Threads share the tiles, unless the weights that each of them would then read are more than the source.
  column_shares_ = weights_->channels_out() > 2 * tiles_ ? std::min(most, panels) : 1;
  row_shares_ = std::min(std::max<int64_t>(1, most / column_shares_), tiles_);
  // Parts of the tiles for each of them, for cores are not equally fast: as many as still fill the kernel's rows.
  constexpr int64_t kTurns = 4;
  const int64_t turns = row_shares_ == 1 ? 1 : tiles_ / (row_shares_ * 2 * kernels_.rows);
  row_parts_ = row_shares_ * std::clamp<int64_t>(turns, 1, kTurns);
  const int64_t own = ceil_div(tiles_, row_parts_);
  const int64_t fit = std::max<int64_t>(kernels_.rows, kSourceBlock / (n() * n() * pitch_));
  tile_block_ = ceil_div(own, ceil_div(own, fit));
  panel_block_ = std::clamp<int64_t>(kSumBlock / (n() * n() * tile_block_ * kernels_.width), 1, panels);
}

int64_t WinogradPlan::source_elements() const { return n() * n() * apart(tile_block_ * pitch_); }

int64_t WinogradPlan::sum_elements() const { return n() * n() * apart(tile_block_ * panel_block_ * kernels_.width); }

int64_t WinogradPlan::space_elements() const {
  return source_elements() + sum_elements() + weights_->m() * weights_->m() * panel_block_ * kernels_.width;
}

size_t WinogradPlan::workspace_bytes() const {
  return static_cast<size_t>(row_shares_ * column_shares_ * space_elements()) * sizeof(float);
}

WinogradPlan::Share WinogradPlan::share(int64_t index) const {
  const int64_t row = index / column_shares_, column = index % column_shares_;
  const int64_t panels = weights_->product(0).layout().panels();
  return {tiles_ * row / row_parts_, tiles_ * (row + 1) / row_parts_, panels * column / column_shares_,
          panels * (column + 1) / column_shares_};
}

WinogradPlan::Pixels WinogradPlan::pixels_of(int64_t tile) const {
  const int64_t m = weights_->m(), image = tile / (rows_ * columns_);
  const int64_t top = tile / columns_ % rows_ * m, left = tile % columns_ * m;
  const auto locate = [&](const Dims& dims, int64_t y, int64_t x, int64_t side, int64_t* pixels) {
    int64_t row[6], column[6];
    for (int64_t i = 0; i < side; ++i) {
      const bool row_inside = y + i >= 0 && y + i < dims[2], column_inside = x + i >= 0 && x + i < dims[3];
      row[i] = row_inside ? (image * dims[2] + y + i) * dims[3] * dims[1] : kOutside;
      column[i] = column_inside ? (x + i) * dims[1] : kOutside;
    }
    for (int64_t i = 0; i < side; ++i)
      for (int64_t k = 0; k < side; ++k) pixels[i * side + k] = std::max<int64_t>(-1, row[i] + column[k]);
  };
  Pixels pixels;
  locate(shape_.src, top - shape_.window.begin[0], left - shape_.window.begin[1], n(), pixels.source);
  locate(shape_.dst, top, left, m, pixels.results);
  return pixels;
}

void WinogradPlan::run(const WinogradArgs& args, std::byte* workspace) const {
  take_turns(row_shares_ * column_shares_, row_parts_ * column_shares_, [&](int64_t worker, int64_t i) {
    float* begin = reinterpret_cast<float*>(workspace) + worker * space_elements();
    run_share(args, share(i), {begin, begin + source_elements(), begin + source_elements() + sum_elements()});
  });
}

void WinogradPlan::run_share(const WinogradArgs& args, const Share& s, const Space& space) const {
  for (int64_t tile = s.tile_begin; tile < s.tile_end; tile += tile_block_) {
    const int64_t tile_end = std::min(tile + tile_block_, s.tile_end);
    for (int64_t t = tile; t < tile_end; ++t)
      transforms_.source(args.src, pixels_of(t).source, shape_.src[1], space.source + (t - tile) * pitch_,
                         apart((tile_end - tile) * pitch_));
    for (int64_t panel = s.panel_begin; panel < s.panel_end; panel += panel_block_) {
      const int64_t panel_end = std::min(panel + panel_block_, s.panel_end);
      multiply(space, tile_end - tile, panel, panel_end);
      finish(args, space, {tile, tile_end, panel, panel_end});
    }
  }
}

/// The sums of each of the n * n products.
void WinogradPlan::multiply(const Space& space, int64_t tiles, int64_t panel_begin, int64_t panel_end) const {
  const int64_t groups = ceil_div(tiles, kernels_.rows), columns = (panel_end - panel_begin) * kernels_.width;
  const int64_t source_stride = apart(tiles * pitch_), sum_stride = apart(tiles * columns);
  const PanelLayout& layout = weights_->product(0).layout();
  Tile t;
  t.depth = layout.depth;
  t.a.row_stride = pitch_;
  t.c_stride = columns;
  for (int64_t i = 0; i < n() * n(); ++i)
    for (int64_t panel = panel_begin; panel < panel_end; ++panel) {
      const auto& kernels = kernels_.tile[0][layout.width_of(panel) / layout.lanes - 1];
      t.b = weights_->product(i).data() + layout.offset_of(panel);
      t.columns = layout.width_of(panel);
      const bool last = panel + 1 == panel_end;
      const float* next = last ? weights_->product((i + 1) % (n() * n())).data() + layout.offset_of(panel_begin)
                               : t.b + layout.width * layout.depth;
      for (int64_t g = 0; g < groups; ++g) {
        const int64_t row = tiles * g / groups, rows = tiles * (g + 1) / groups - row;
        t.a.data = space.source + i * source_stride + row * pitch_;
        t.c = space.sums + i * sum_stride + row * columns + (panel - panel_begin) * kernels_.width;
        t.ahead = g * ProductKernels::kAhead < layout.width ? next + g * t.depth * ProductKernels::kAhead : t.b;
        kernels[rows - 1](t);
      }
    }
}

void WinogradPlan::finish(const WinogradArgs& args, const Space& space, const Share& done) const {
  const int64_t width = (done.panel_end - done.panel_begin) * kernels_.width, first = done.panel_begin * kernels_.width;
  const int64_t columns = std::min(width, shape_.dst[1] - first), tiles = done.tile_end - done.tile_begin;
  const int64_t results = weights_->m() * weights_->m();
  const auto limits = limits_of(args.activation);
  int64_t places[4 * 4];  // of results that are not written at once to where they belong
  for (int64_t i = 0; i < results; ++i) places[i] = i * width;
  const bool whole = columns % kernels_.lanes == 0 && !args.addend && limits;
  for (int64_t tile = done.tile_begin; tile < done.tile_end; ++tile) {
    const Pixels pixels = pixels_of(tile);
    const bool direct =
        whole && std::all_of(pixels.results, pixels.results + results, [](int64_t p) { return p >= 0; });
    const WinogradResult to{.bias = args.bias ? args.bias + first : nullptr,
                            .addend = args.addend ? args.addend + first : nullptr,
                            .pixels = pixels.results,
                            .low = limits ? limits->low : -kInfinity,
                            .high = limits ? limits->high : kInfinity,
                            .out = direct ? args.dst + first : space.results,
                            .places = direct ? pixels.results : places};
    const float* sums = space.sums + (tile - done.tile_begin) * width;
    const bool finite = transforms_.result(sums, apart(tiles * width), columns, to);
    if (finite && direct) continue;
    if (!finite) convolve(args, pixels, first, columns, space);
    if (!finite || !limits) apply_here(args.activation, space.results, space.results, results * width);
    for (int64_t i = 0; i < results; ++i)
      if (pixels.results[i] >= 0) std::copy_n(space.results + i * width, columns, args.dst + pixels.results[i] + first);
  }
}

void WinogradPlan::convolve(const WinogradArgs& args, const Pixels& pixels, int64_t column, int64_t columns,
                            const Space& space) const {
  const int64_t m = weights_->m(), stride = round_up(columns, kernels_.width);
  for (int64_t k = 0; k < columns; ++k) {
    float sums[4 * 4] = {};
    for (int64_t c = 0; c < weights_->channels(); ++c) {
      float w[9];
      weights_->restore(column + k, c, w);
      for (int64_t i = 0; i < m * m; ++i)
        for (int64_t tap = 0; tap < 9; ++tap) {
          const int64_t pixel = pixels.source[(i / m + tap / 3) * n() + i % m + tap % 3];
          if (pixel >= 0) sums[i] += w[tap] * args.src[pixel + c];
        }
    }
    for (int64_t i = 0; i < m * m; ++i) {
      if (pixels.results[i] < 0) continue;
      if (args.bias) sums[i] += args.bias[column + k];
      if (args.addend) sums[i] += args.addend[pixels.results[i] + column + k];
      space.results[i * stride + k] = sums[i];
    }
  }
}

}  // namespace mlopt::cpu
