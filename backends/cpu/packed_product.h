#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#include "backends/cpu/product_kernel.h"

namespace mlopt::cpu {

/// Where the parts of a product lie in its panels: one place for packing and multiplying.
struct PanelLayout {
  int64_t depth = 0, columns = 0;
  int lanes = 0, width = 0;  ///< as in ProductKernels

  int64_t panels() const { return (columns + width - 1) / width; }
  /// Columns of panel i that the matrix has.
  int64_t columns_of(int64_t i) const { return std::min<int64_t>(width, columns - i * width); }
  int64_t width_of(int64_t i) const { return columns_of(i) <= lanes ? lanes : width; }
  int64_t offset_of(int64_t i) const { return i * width * depth; }
  int64_t elements() const { return panels() * width * depth; }
  /// Packs panel i of the matrix into its place in `out`, which holds all of them.
  void pack(const ProductKernels& kernels, const MatrixView& b, int64_t i, float* out) const;
};

/// A right matrix [depth, columns] packed once for all products with it, in the layout of the best instruction set.
class PackedMatrix {
 public:
  PackedMatrix(const MatrixView& b, int64_t depth, int64_t columns);
  const float* data() const { return data_.get(); }
  const PanelLayout& layout() const { return layout_; }
  size_t bytes() const { return static_cast<size_t>(layout_.elements()) * sizeof(float); }

 private:
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  PanelLayout layout_;
  std::unique_ptr<float, Free> data_;
};

/// Writes [depth, columns] of a right matrix, from (k, column) on, to `out`: those of a panel.
using UnpackPanel = std::function<void(int64_t column, int64_t columns, int64_t k, int64_t depth, float* out)>;

/// Products along one more axis: distances in elements between the operands of neighbours (0: the same one).
struct BatchAxis {
  int64_t count = 1, a = 0, b = 0, c = 0;
};

/// c[m, n] = activation(alpha a[m, k] b[k, n] + beta addend + bias), once for each index of the batch.
struct ProductShape {
  int64_t m = 0, n = 0, k = 0;
  std::vector<BatchAxis> batch = {};
  /// Equal parts of the inner axis, so many elements of `a` apart; in each of them its columns are as far apart as its
  /// strides say. With several of them the inner axis is not blocked.
  int64_t pieces = 1, piece_stride = 0;
};

/// The operands of one run.
struct ProductArgs {
  MatrixView a;
  MatrixView b = {};  ///< not used with a packed matrix
  float* c = nullptr;
  int64_t c_stride = 0;  ///< between rows, whose elements lie side by side
  float alpha = 1, beta = 1;
  const float* addend = nullptr;  ///< null: 0; steps through the batch as c does; may be c
  int64_t addend_stride = 0;
  const float* bias = nullptr;  ///< one for each column; null: 0
  Activation activation = {};
};

/// How a product is divided among threads and into blocks that the caches hold, decided once. Runs allocate nothing,
/// give the same bits every time, and may overlap when each has a workspace of its own.
class ProductPlan {
 public:
  /// `right` (kept) is null where the right matrix is known only at run time; it has no batch then.
  ProductPlan(ProductShape shape, std::shared_ptr<const PackedMatrix> right, int threads);
  /// The right matrix is unpacked where it is multiplied, a piece at a time, `k` a multiple of 16.
  ProductPlan(ProductShape shape, UnpackPanel unpack, int threads);

  /// Of what run() needs, aligned to 64 bytes.
  size_t workspace_bytes() const;
  void run(const ProductArgs& args, std::byte* workspace) const;

 private:
  /// Whether rows of the left matrix are packed: not at all, a block of them before it is multiplied, all of them
  /// before.
  enum class Packing { kNone, kByBlock, kAhead };
  /// What a thread computes of one product at a time, and with what.
  struct Part {
    int64_t tile_begin, tile_end, panel_begin, panel_end;
    float* panels;  ///< of the right matrix where it is not kept, or room for what is unpacked of one
    float* rows;    ///< packed ones of the left one, or room for them
    float* sums;    ///< room for those of a block that are not complete
  };
  /// The left rows, the panels and the piece of the inner axis that a thread works on before it goes on to others.
  struct Block {
    int64_t tile_begin, tile_end, panel_begin, panel_end, depth_begin, depth_end;
  };

  ProductPlan(ProductShape shape, std::shared_ptr<const PackedMatrix> right, UnpackPanel unpack, int threads);
  void share(int threads);
  void block();
  void block_panels();
  int64_t row_of(int64_t tile) const { return tile * low_tile_ + std::min(tile, high_tiles_); }
  int64_t row_elements() const;    ///< of the packed rows, of a thread's where each packs its own
  int64_t panel_elements() const;  ///< of a packed right matrix in the workspace, or a piece of it for each thread
  int64_t panels_from() const;     ///< where they are in the workspace, behind the rows
  int64_t sums_from() const;       ///< where they are in the workspace, behind the panels
  ProductArgs item(const ProductArgs& args, int64_t index) const;
  Part part(int64_t index, float* panels, float* rows, float* sums) const;
  void run_alone(const ProductArgs& one, int64_t worker, float* workspace) const;
  void run_together(const ProductArgs& one, float* workspace) const;
  const float* panel_of(const Part& part, int64_t panel, int64_t k) const;
  int64_t place_of(const Block& block, int64_t tile) const;
  void pack_rows(const MatrixView& a, const Block& block, float* out) const;
  void pack_ahead(const MatrixView& a, int64_t tile_begin, int64_t tile_end, float* out) const;
  void multiply(const ProductArgs& args, const Part& part) const;
  void multiply_block(const ProductArgs& args, const Part& part, const Block& block) const;
  Tile first_tile(const ProductArgs& args, const Part& part, const Block& block, int64_t panel, int64_t k) const;
  const float* next_piece(const Part& part, const Block& block, int64_t panel, int64_t k) const;
  void multiply_panel(const ProductArgs& args, const Part& part, const Block& block, int64_t panel, int64_t k) const;

  ProductShape shape_;
  std::shared_ptr<const PackedMatrix> right_;
  UnpackPanel unpack_;
  ProductKernels kernels_;
  PanelLayout layout_;
  int64_t items_ = 1;                         ///< of the batch
  bool apart_ = false;                        ///< each thread takes whole products of the batch
  int64_t shares_ = 1;                        ///< threads
  int64_t row_parts_ = 1, column_parts_ = 1;  ///< the grid of parts of a product
  int64_t tiles_ = 1;                         ///< of rows, as equal in height as they can be
  int64_t low_tile_ = 0, high_tiles_ = 0;     ///< rows of a tile; so many at the front have one more
  int64_t tile_block_ = 1, panel_block_ = 1, depth_block_ = 1;
  int64_t depth_step_ = 1;    ///< of one call of a tile kernel
  int64_t sum_elements_ = 0;  ///< of a thread's room for incomplete sums; 0: they are in c
  Packing packing_ = Packing::kNone;
};

}  // namespace mlopt::cpu
