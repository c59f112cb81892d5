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
/// Panels of a thread from which on rows are read often enough to pay for packing them.
constexpr int64_t kPanelsWorthPacking = 16;

/// The largest size not above `most` (but at least 1) that divides `total` into nearly equal pieces.
int64_t even(int64_t total, int64_t most) {
  return std::max<int64_t>(1, ceil_div(total, ceil_div(total, std::max<int64_t>(1, most))));
}

PanelLayout layout_for(const ProductKernels& kernels, int64_t depth, int64_t columns) {
  return {depth, columns, kernels.lanes, kernels.width};
}

void pack_panel(const ProductKernels& kernels, const PanelLayout& l, const MatrixView& b, int64_t i, float* out) {
  kernels.pack(b.from(0, i * l.width).data, b.column_stride, b.row_stride, l.columns_of(i), l.depth,
               out + l.offset_of(i), l.width_of(i));
}

}  // namespace

PackedMatrix::PackedMatrix(const MatrixView& b, int64_t depth, int64_t columns) {
  const ProductKernels kernels = product_kernels();
  layout_ = layout_for(kernels, depth, columns);
  const int64_t elements = round_up(std::max<int64_t>(1, layout_.elements()), kAlignment);
  data_.reset(static_cast<float*>(allocate_aligned(static_cast<size_t>(elements) * sizeof(float))));
  if (!data_) throw std::bad_alloc();
  const int64_t grain = std::max<int64_t>(1, kPackingGrain / (layout_.width * depth + 1));
  parallel_for(layout_.panels(), grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) pack_panel(kernels, layout_, b, i, data_.get());
  });
}

ProductPlan::ProductPlan(ProductShape shape, std::shared_ptr<const PackedMatrix> right, int threads)
    : shape_(std::move(shape)),
      right_(std::move(right)),
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
  if (shape_.pieces > 1) {
    depth_step_ = depth_block_ = shape_.k;
    tile_block_ = tiles;
    return;
  }
  if (layout_.panels() >= kPanelsWorthPacking) packing_ = column_parts_ > 1 ? Packing::kAhead : Packing::kByBlock;
  const int64_t depth = std::max<int64_t>(1, shape_.k);
  depth_step_ = round_up(tiles == 1 ? depth : even(depth, kPanel / layout_.width), 4);
  tile_block_ = even(tiles, kBlock / (depth_step_ * kernels_.rows));
  depth_block_ = depth_step_ * std::max<int64_t>(1, kBlock / (depth_step_ * kernels_.rows * tile_block_));
  block_panels();
}

/// Sums that are not complete are kept apart, of so many panels that they stay in the second cache: in c their rows may
/// lie far apart, and threads that take columns of the same rows would write, step after step, beside what the other's
/// core fetches ahead.
void ProductPlan::block_panels() {
  const int64_t panels = ceil_div(layout_.panels(), column_parts_);
  const int64_t sums = std::min(shape_.m, tile_block_ * (low_tile_ + 1)) * layout_.width;
  panel_block_ = panels;
  if (depth_step_ >= shape_.k || (column_parts_ == 1 && panels * sums <= kMostSums)) return;
  if (column_parts_ == 1) {  // a block of rows would be packed for every block of panels
    if (shape_.m * shape_.k > kMostAhead) return;
    packing_ = Packing::kAhead;
  }
  panel_block_ = even(panels, kMostSums / sums);
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

int64_t ProductPlan::panel_elements() const { return right_ ? 0 : round_up(layout_.elements(), kAlignment); }

int64_t ProductPlan::panels_from() const {
  return (apart_ || packing_ != Packing::kAhead ? shares_ : 1) * row_elements();
}

int64_t ProductPlan::sums_from() const { return panels_from() + (apart_ ? shares_ : 1) * panel_elements(); }

size_t ProductPlan::workspace_bytes() const {
  const int64_t elements = sums_from() + shares_ * sum_elements_;
  return static_cast<size_t>(elements) * sizeof(float);
}

ProductArgs ProductPlan::item(const ProductArgs& args, int64_t index) const {
  ProductArgs one = args;
  for (auto axis = shape_.batch.rbegin(); axis != shape_.batch.rend(); ++axis) {
    const int64_t i = index % axis->count;
    index /= axis->count;
    one.a.data += i * axis->a;
    if (one.b.data) one.b.data += i * axis->b;
    one.c += i * axis->c;
    if (one.addend) one.addend += i * axis->c;
  }
  return one;
}

ProductPlan::Part ProductPlan::part(int64_t index, const float* panels, float* rows, float* sums) const {
  const int64_t row = index / column_parts_, column = index % column_parts_;
  return {tiles_ * row / row_parts_,
          tiles_ * (row + 1) / row_parts_,
          layout_.panels() * column / column_parts_,
          layout_.panels() * (column + 1) / column_parts_,
          panels,
          rows,
          sums};
}

void ProductPlan::run(const ProductArgs& args, std::byte* workspace) const {
  if (shape_.m == 0 || shape_.n == 0 || items_ == 0) return;
  auto* space = reinterpret_cast<float*>(workspace);
  if (apart_)
    return take_turns(shares_, items_, [&](int64_t worker, int64_t i) { run_alone(item(args, i), worker, space); });
  for (int64_t i = 0; i < items_; ++i) run_together(item(args, i), space);
}

/// One product, by one thread.
void ProductPlan::run_alone(const ProductArgs& one, int64_t worker, float* space) const {
  float* rows = space + worker * row_elements();
  float* panels = space + panels_from() + worker * panel_elements();
  if (!right_)
    for (int64_t i = 0; i < layout_.panels(); ++i) pack_panel(kernels_, layout_, one.b, i, panels);
  if (packing_ == Packing::kAhead) pack_ahead(one.a, 0, tiles_, rows);
  multiply(one, {0, tiles_, 0, layout_.panels(), right_ ? right_->data() : panels, rows,
                 space + sums_from() + worker * sum_elements_});
}

/// One product, by all threads.
void ProductPlan::run_together(const ProductArgs& one, float* space) const {
  float* panels = space + panels_from();
  const bool ahead = packing_ == Packing::kAhead;
  if (!right_)
    take_turns(shares_, layout_.panels(), [&](int64_t, int64_t i) { pack_panel(kernels_, layout_, one.b, i, panels); });
  if (ahead)
    parallel_for(tiles_, ceil_div(tiles_, shares_),
                 [&](int64_t begin, int64_t end) { pack_ahead(one.a, begin, end, space); });
  take_turns(shares_, row_parts_ * column_parts_, [&](int64_t worker, int64_t i) {
    multiply(one, part(i, right_ ? right_->data() : panels, ahead ? space : space + worker * row_elements(),
                       space + sums_from() + worker * sum_elements_));
  });
}

void ProductPlan::multiply(const ProductArgs& args, const Part& part) const {
  for (int64_t panel = part.panel_begin; panel < part.panel_end; panel += panel_block_)
    for (int64_t tile = part.tile_begin; tile < part.tile_end; tile += tile_block_) {
      int64_t k = 0;
      do {  // once even where there is nothing to add up
        multiply_block(args, part,
                       {tile, std::min(tile + tile_block_, part.tile_end), panel,
                        std::min(panel + panel_block_, part.panel_end), k, std::min(k + depth_block_, shape_.k)});
        k += depth_block_;
      } while (k < shape_.k);
    }
}

void ProductPlan::multiply_block(const ProductArgs& args, const Part& part, const Block& block) const {
  if (packing_ == Packing::kByBlock) pack_rows(args.a, block, part.rows);
  for (int64_t panel = block.panel_begin; panel < block.panel_end; ++panel) {
    int64_t step = block.depth_begin;
    do {
      multiply_panel(args, part, block, panel, step);
      step += depth_step_;
    } while (step < block.depth_end);
  }
}

/// Of a tile's packed rows, in the room for all of them: pieces of the inner axis one after the other, each of them
/// tile by tile, with room for what packing writes beyond.
int64_t ProductPlan::place_of(const Block& block, int64_t tile) const {
  constexpr int64_t kSlack = ProductKernels::kSlack;
  const bool ahead = packing_ == Packing::kAhead;
  const int64_t first = ahead ? 0 : block.tile_begin, before = ahead ? block.depth_begin : 0;
  return before * shape_.m + before / depth_block_ * tiles_ * kSlack + (tile - first) * kSlack +
         (row_of(tile) - row_of(first)) * (block.depth_end - block.depth_begin);
}

void ProductPlan::pack_rows(const MatrixView& a, const Block& block, float* out) const {
  for (int64_t tile = block.tile_begin; tile < block.tile_end; ++tile) {
    const int64_t row = row_of(tile), rows = row_of(tile + 1) - row;
    kernels_.pack(a.from(row, block.depth_begin).data, a.row_stride, a.column_stride, rows,
                  block.depth_end - block.depth_begin, out + place_of(block, tile), rows);
  }
}

void ProductPlan::pack_ahead(const MatrixView& a, int64_t tile_begin, int64_t tile_end, float* out) const {
  for (int64_t k = 0; k < shape_.k; k += depth_block_)
    pack_rows(a, {tile_begin, tile_end, 0, 0, k, std::min(k + depth_block_, shape_.k)}, out);
}

/// What all tiles of a panel share, from the block's first row on; `k` is where the step begins. The first sum of an
/// element is added to its addend, the others to what there is by then, in c, so that c may be the addend, or apart.
Tile ProductPlan::first_tile(const ProductArgs& args, const Part& part, const Block& block, int64_t panel,
                             int64_t k) const {
  const bool first = k == 0, last = k + depth_step_ >= shape_.k;
  const int64_t column = panel * layout_.width, begin = row_of(block.tile_begin), rows = row_of(block.tile_end) - begin;
  const bool apart = sum_elements_ > 0;
  float* const complete = args.c + begin * args.c_stride + column;
  float* const sums = apart ? part.sums + (panel - block.panel_begin) * rows * layout_.width : complete;
  const int64_t stride = apart ? layout_.width : args.c_stride;
  Tile t;
  t.pieces = shape_.pieces;
  t.piece_stride = shape_.piece_stride;
  t.depth = std::min(depth_step_, block.depth_end - k) / t.pieces;
  t.b = part.panels + layout_.offset_of(panel) + k * layout_.width_of(panel);
  t.c = last ? complete : sums;
  t.c_stride = last ? args.c_stride : stride;
  t.columns = layout_.columns_of(panel);
  t.alpha = args.alpha;
  t.base = !first ? sums : args.addend ? args.addend + begin * args.addend_stride + column : nullptr;
  t.base_stride = first ? args.addend_stride : stride;
  t.beta = first ? args.beta : 1;
  t.bias = first && args.bias ? args.bias + column : nullptr;
  const auto limits = limits_of(args.activation);
  t.limited = last && limits && args.activation.fn != Fn::kNone;
  if (t.limited) {
    t.low = limits->low;
    t.high = limits->high;
  }
  t.activation = last && !limits ? &args.activation : nullptr;
  return t;
}

/// The piece of the right matrix that follows in multiply().
const float* ProductPlan::next_piece(const Part& part, const Block& block, int64_t panel, int64_t k) const {
  int64_t next = panel, from = k + depth_step_;
  if (from >= block.depth_end) {
    from = block.depth_begin;
    if (++next == block.panel_end) {
      const bool deeper = block.depth_end < shape_.k, again = deeper || block.tile_end < part.tile_end;
      from = deeper ? block.depth_end : 0;
      next = again ? block.panel_begin : std::min(block.panel_end, part.panel_end - 1);
    }
  }
  return part.panels + layout_.offset_of(next) + from * layout_.width_of(next);
}

void ProductPlan::multiply_panel(const ProductArgs& args, const Part& part, const Block& block, int64_t panel,
                                 int64_t k) const {
  const Tile first = first_tile(args, part, block, panel, k);
  const auto& kernels = kernels_.tile[packing_ != Packing::kNone][layout_.width_of(panel) / layout_.lanes - 1];
  const float* next = next_piece(part, block, panel, k);
  const int64_t fetch = first.depth * ProductKernels::kAhead, fetching_tiles = layout_.width / ProductKernels::kAhead;
  Tile t = first;
  for (int64_t tile = block.tile_begin; tile < block.tile_end; ++tile) {
    const int64_t row = row_of(tile), rows = row_of(tile + 1) - row, done = tile - block.tile_begin;
    const int64_t down = row - row_of(block.tile_begin);
    t.c = first.c + down * first.c_stride;
    if (first.base) t.base = first.base + down * first.base_stride;
    t.ahead = done < fetching_tiles ? next + done * fetch : first.b;
    if (packing_ != Packing::kNone) {
      t.a.data = part.rows + place_of(block, tile) + (k - block.depth_begin) * rows;
    } else {
      t.a = args.a.from(row, k);
      const int64_t passed = panel - block.panel_begin;
      if (passed * ProductKernels::kAhead < rows && tile + 1 < part.tile_end)
        t.ahead = args.a.from(row + rows, k).data + passed * fetch;
    }
    kernels[rows - 1](t);
  }
}

}  // namespace mlopt::cpu
