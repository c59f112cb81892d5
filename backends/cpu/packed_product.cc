#include "backends/cpu/packed_product.h"

#include <new>
#include <utility>

#include "core/base/align.h"
#include "core/base/memory.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kAlignment = 64;        // bytes, and elements that sizes are rounded to
constexpr int64_t kPackingGrain = 65536;  // elements
/// Multiplications below which a second thread costs more than it brings, and a part is not worth fetching.
constexpr double kGrain = 1 << 17, kPartGrain = 1 << 19;
/// Parts for each thread: what one of them is late by is at most so much of its work.
constexpr double kPartsPerThread = 2;
/// Elements of a panel over a step of the inner axis: it stays in the nearest cache while all tiles of a block pass by.
constexpr int64_t kPanel = 6 * 1024;
/// Elements of the left matrix in a block: they stay in the second cache while all panels pass by.
constexpr int64_t kBlock = 48 * 1024;
/// Incomplete sums of a thread that are kept apart: more of them would not stay in the second cache.
constexpr int64_t kMostSums = 64 * 1024;
/// Elements of a left matrix that one thread packs whole for a product.
constexpr int64_t kMostAhead = 512 * 1024;
/// Of the inner axis, what is unpacked at a time is a multiple of it.
constexpr int64_t kUnpacked = 16;
/// Panels of a thread from which on rows are read often enough to pay for packing them.
constexpr int64_t kPanelsWorthPacking = 16;

/// The largest size not above `most` (but at least 1) that divides `total` into nearly equal pieces.
int64_t even(int64_t total, int64_t most) {
  return std::max<int64_t>(1, ceil_div(total, ceil_div(total, std::max<int64_t>(1, most))));
}

PanelLayout layout_for(const ProductKernels& kernels, int64_t depth, int64_t columns) {
  return {depth, columns, kernels.lanes, kernels.width};
}

}  // namespace

void PanelLayout::pack(const ProductKernels& kernels, const MatrixView& b, int64_t i, float* out) const {
  kernels.pack(b.from(0, i * width).data, b.column_stride, b.row_stride, columns_of(i), depth, out + offset_of(i),
               width_of(i));
}

PackedMatrix::PackedMatrix(const MatrixView& b, int64_t depth, int64_t columns) {
  const ProductKernels kernels = product_kernels();
  layout_ = layout_for(kernels, depth, columns);
  const int64_t elements = round_up(std::max<int64_t>(1, layout_.elements()), kAlignment);
  data_.reset(static_cast<float*>(allocate_aligned(static_cast<size_t>(elements) * sizeof(float))));
  if (!data_) throw std::bad_alloc();
  const int64_t grain = std::max<int64_t>(1, kPackingGrain / (layout_.width * depth + 1));
  parallel_for(layout_.panels(), grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) layout_.pack(kernels, b, i, data_.get());
  });
}

ProductPlan::ProductPlan(ProductShape shape, std::shared_ptr<const PackedMatrix> right, int threads)
    : ProductPlan(std::move(shape), std::move(right), nullptr, threads) {}

ProductPlan::ProductPlan(ProductShape shape, UnpackPanel unpack, int threads)
    : ProductPlan(std::move(shape), nullptr, std::move(unpack), threads) {}

ProductPlan::ProductPlan(ProductShape shape, std::shared_ptr<const PackedMatrix> right, UnpackPanel unpack, int threads)
    : shape_(std::move(shape)),
      right_(std::move(right)),
      unpack_(std::move(unpack)),
      kernels_(product_kernels()),
      layout_(right_ ? right_->layout() : layout_for(kernels_, shape_.k, shape_.n)),
      tiles_(std::max<int64_t>(1, ceil_div(shape_.m, kernels_.rows))),
      low_tile_(shape_.m / tiles_),
      high_tiles_(shape_.m % tiles_) {
  for (const BatchAxis& axis : shape_.batch) items_ *= axis.count;
  share(threads);
  block();
}

/// Chooses the threads, and the grid over the rows and panels of a product that they take parts from: the one that
/// costs least to bring here, when a panel costs 8 for each part that reads it and a tile of rows 3.
void ProductPlan::share(int threads) {
  const double work = static_cast<double>(items_) * static_cast<double>(shape_.m) * static_cast<double>(shape_.n) *
                      static_cast<double>(shape_.k);
  shares_ = static_cast<int64_t>(std::clamp<double>(work / kGrain, 1, std::max(1, threads)));
  apart_ = items_ >= 2 * shares_ || items_ % shares_ == 0;
  if (apart_) return;
  const auto least = static_cast<double>(shares_);
  const auto wanted =
      static_cast<int64_t>(std::clamp(work / static_cast<double>(items_) / kPartGrain, least, least * kPartsPerThread));
  int64_t best = INT64_MAX;
  for (int64_t rows = 1; rows <= std::min(wanted, tiles_); ++rows) {
    const int64_t columns = std::min(ceil_div(wanted, rows), layout_.panels());
    const int64_t missing = std::max<int64_t>(0, shares_ - rows * columns);
    const int64_t cost = 3 * tiles_ * columns + 8 * layout_.panels() * rows + (missing << 32);
    if (cost >= best) continue;
    best = cost;
    row_parts_ = rows;
    column_parts_ = columns;
  }
}

void ProductPlan::block() {
  const int64_t tiles = ceil_div(tiles_, row_parts_);
  panel_block_ = ceil_div(layout_.panels(), column_parts_);
  if (shape_.pieces > 1) {
    depth_step_ = depth_block_ = shape_.k;
    tile_block_ = tiles;
    return;
  }
  if (layout_.panels() >= kPanelsWorthPacking) packing_ = column_parts_ > 1 ? Packing::kAhead : Packing::kByBlock;
  const int64_t depth = std::max<int64_t>(1, shape_.k);
  const bool whole = tiles == 1 && !unpack_;
  depth_step_ = round_up(whole ? depth : even(depth, kPanel / layout_.width), unpack_ ? kUnpacked : 4);
  tile_block_ = even(tiles, kBlock / (depth_step_ * kernels_.rows));
  depth_block_ = depth_step_ * std::max<int64_t>(1, kBlock / (depth_step_ * kernels_.rows * tile_block_));
  block_panels();
}

/// Sums that are not complete are kept apart, of so many panels that they stay in the second cache: in c their rows may
/// lie far apart, and threads that take columns of the same rows would write, step after step, beside what the other's
/// core fetches ahead.
void ProductPlan::block_panels() {
  const int64_t sums = std::min(shape_.m, tile_block_ * (low_tile_ + 1)) * layout_.width;
  if (depth_step_ >= shape_.k || (column_parts_ == 1 && panel_block_ * sums <= kMostSums)) return;
  if (column_parts_ == 1) {  // a block of rows would be packed for every block of panels
    if (shape_.m * shape_.k > kMostAhead) return;
    packing_ = Packing::kAhead;
  }
  panel_block_ = even(panel_block_, kMostSums / sums);
  sum_elements_ = round_up(panel_block_ * sums, kAlignment);
}

int64_t ProductPlan::row_elements() const {
  if (packing_ == Packing::kNone) return 0;
  constexpr int64_t kSlack = ProductKernels::kSlack;
  const int64_t elements = packing_ == Packing::kAhead
                               ? shape_.m * shape_.k + tiles_ * kSlack * ceil_div(shape_.k, depth_block_)
                               : tile_block_ * (kernels_.rows * std::min(depth_block_, shape_.k) + kSlack);
  return round_up(elements, kAlignment);
}

int64_t ProductPlan::panel_elements() const {
  return right_ ? 0 : round_up(unpack_ ? depth_step_ * layout_.width : layout_.elements(), kAlignment);
}

int64_t ProductPlan::panels_from() const {
  return (apart_ || packing_ != Packing::kAhead ? shares_ : 1) * row_elements();
}

int64_t ProductPlan::sums_from() const { return panels_from() + (apart_ || unpack_ ? shares_ : 1) * panel_elements(); }

size_t ProductPlan::workspace_bytes() const {
  const int64_t elements = sums_from() + shares_ * sum_elements_;
  return static_cast<size_t>(elements) * sizeof(float);
}

}  // namespace mlopt::cpu
