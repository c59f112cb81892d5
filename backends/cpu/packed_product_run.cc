// A product as it was planned: packing, and the tiles one after the other.
#include "backends/cpu/packed_product.h"
#include "core/base/align.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {

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

ProductPlan::Part ProductPlan::part(int64_t index, float* panels, float* rows, float* sums) const {
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
  if (!right_ && !unpack_)
    for (int64_t i = 0; i < layout_.panels(); ++i) layout_.pack(kernels_, one.b, i, panels);
  if (packing_ == Packing::kAhead) pack_ahead(one.a, 0, tiles_, rows);
  multiply(one, {0, tiles_, 0, layout_.panels(), panels, rows, space + sums_from() + worker * sum_elements_});
}

/// One product, by all threads.
void ProductPlan::run_together(const ProductArgs& one, float* space) const {
  float* panels = space + panels_from();
  const bool ahead = packing_ == Packing::kAhead;
  if (!right_ && !unpack_)
    take_turns(shares_, layout_.panels(), [&](int64_t, int64_t i) { layout_.pack(kernels_, one.b, i, panels); });
  if (ahead)
    parallel_for(tiles_, ceil_div(tiles_, shares_),
                 [&](int64_t begin, int64_t end) { pack_ahead(one.a, begin, end, space); });
  take_turns(shares_, row_parts_ * column_parts_, [&](int64_t worker, int64_t i) {
    multiply(one, part(i, panels + (unpack_ ? worker * panel_elements() : 0),
                       ahead ? space : space + worker * row_elements(), space + sums_from() + worker * sum_elements_));
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

/// A panel of the right matrix, from row k on.
const float* ProductPlan::panel_of(const Part& part, int64_t panel, int64_t k) const {
  if (unpack_) return part.panels;
  return (right_ ? right_->data() : part.panels) + layout_.offset_of(panel) + k * layout_.width_of(panel);
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
  t.b = panel_of(part, panel, k);
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
  return panel_of(part, next, from);
}

void ProductPlan::multiply_panel(const ProductArgs& args, const Part& part, const Block& block, int64_t panel,
                                 int64_t k) const {
  const Tile first = first_tile(args, part, block, panel, k);
  const auto& kernels = kernels_.tile[packing_ != Packing::kNone][layout_.width_of(panel) / layout_.lanes - 1];
  const float* next = next_piece(part, block, panel, k);
  if (unpack_) unpack_(panel * layout_.width, layout_.width_of(panel), k, first.depth, part.panels);
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
