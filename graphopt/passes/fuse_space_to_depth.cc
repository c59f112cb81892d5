// Concat of every second pixel of every second row, from each of the four that there are to begin at (and so for larger
// blocks) -> SpaceToDepth. In another order than that operator's, the channels of the weight that reads them move.
// Where channels come last (patches that are merged, as in Swin) -> Reshape, Transpose, Reshape.
#include <algorithm>
#include <array>
#include <limits>

#include "core/rewrite/axis_map.h"
#include "core/tensor/cast.h"
#include "graphopt/passes.h"
#include "graphopt/passes/slicing.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

/// Every `step`-th row and column of x, from `start` on.
struct Part {
  Value* x = nullptr;
  int64_t rows = 2;  ///< the axis of rows, that of columns behind it
  std::array<int64_t, 2> start = {0, 0}, step = {1, 1};
  std::array<bool, 2> whole = {true, true};  ///< do they go to the end, whatever the size?
};

/// Takes the Slice in front of the part into it; false where it cuts something else.
bool take_slice(Part& part, const Builder& builder) {
  const Node* node = part.x->producer;
  if (!node || !node->is("Slice") || part.x->graph != &builder.graph) return false;
  const auto slicing = Slicing::of(builder.view(*node));
  if (!slicing) return false;
  Part wider = part;
  for (size_t i = 0; i < slicing->axes.size(); ++i) {
    const int64_t axis = slicing->axes[i] - part.rows, start = slicing->starts[i], step = slicing->steps[i];
    if (axis < 0 || axis > 1 || step < 2 || start < 0 || start >= step) return false;
    const auto at = static_cast<size_t>(axis);
    if (wider.step[at] != 1) return false;
    wider.start[at] = start, wider.step[at] = step;
    wider.whole[at] = slicing->ends[i] >= std::numeric_limits<int32_t>::max();
  }
  wider.x = node->input(0);
  part = wider;
  return true;
}

/// x in blocks of `side` by `side` pixels; the pieces that the Concat joins have these places in SpaceToDepth's result.
struct Blocks {
  Value* x = nullptr;
  int64_t side = 0;
  std::vector<int64_t> places;
};

Expected<Blocks> blocks_of(const Node& concat, const Builder& builder, int64_t first = 2) {
  Blocks blocks;
  for (Value* piece : concat.inputs()) {
    Part part{piece, first};
    while (take_slice(part, builder)) {
    }
    if (part.step[0] < 2 || part.step[0] != part.step[1]) return Decline{};
    if (!piece->single_use()) return Decline{"a part of the pixels is used elsewhere too"};
    if (blocks.x && (blocks.x != part.x || blocks.side != part.step[0]))
      return Decline{"its pieces are not of the same pixels"};
    blocks.x = part.x, blocks.side = part.step[0];
    blocks.places.push_back(part.start[0] * blocks.side + part.start[1]);
    const auto &whole = part.x->type.dims, &dims = piece->type.dims;
    if (!whole || whole->size() != 4 || !dims || dims->size() != 4) return Decline{"not images"};
    for (const size_t at : {0, 1}) {
      const size_t axis = at + static_cast<size_t>(first);
      // The first and the last pixels of blocks are joined, so that there are as many of them in any image that runs.
      if (part.whole[at] && !(*whole)[axis].value()) continue;
      const auto length = Dim::divide((*whole)[axis], blocks.side);
      if (!length || !(*length == (*dims)[axis])) return Decline{"the image may not be made of whole blocks"};
    }
  }
  std::vector<int64_t> sorted = blocks.places;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != static_cast<int64_t>(i)) return Decline{"pixels of a block are missing or come twice"};
  if (static_cast<int64_t>(sorted.size()) != blocks.side * blocks.side)
    return Decline{"pixels of a block are missing or come twice"};
  const int64_t axis = builder.view(concat).get_int("axis", 1);
  const int64_t channels = first == 2 ? 1 : 3;
  if (axis != channels && axis != channels - 4) return Decline{"the pieces do not become channels"};
  if (!is_float(blocks.x->type.dtype)) return Decline{"SpaceToDepth of other elements than floats is rarely run"};
  return blocks;
}

Value* space_to_depth(const Blocks& blocks, Type type, Builder& builder) {
  return builder.op("SpaceToDepth", {blocks.x}, {{"blocksize", blocks.side, {}}}, std::move(type));
}

/// Rows of pixels [batch, rows, columns, channels], each block of which becomes one.
Expected<Replacement> rewrite_last(const Match& m, Builder& builder) {
  const auto blocks = blocks_of(*m.root, builder, 1);
  if (!blocks) return blocks.error();
  const SymDims& dims = *blocks->x->type.dims;
  const Type& type = m.root->output(0)->type;
  const int64_t side = blocks->side;
  const auto rows = Dim::divide(dims[1], side), columns = Dim::divide(dims[2], side);
  if (!rows || !columns || !type.dims) return Decline{"the image may not be made of whole blocks"};
  std::vector<int64_t> by_columns;
  for (int64_t i = 0; i < side * side; ++i) by_columns.push_back(i % side * side + i / side);
  const bool straight = std::is_sorted(blocks->places.begin(), blocks->places.end());
  if (!straight && blocks->places != by_columns) return Decline{"the pieces come neither by rows nor by columns"};
  AxisMap way(dims);
  const std::vector<int64_t> perm =
      straight ? std::vector<int64_t>{0, 1, 3, 2, 4, 5} : std::vector<int64_t>{0, 1, 3, 4, 2, 5};
  if (!way.reshape({dims[0], *rows, side, *columns, side, dims[3]}) || !way.transpose(perm) ||
      !way.reshape(*type.dims) || !way.writable())
    return Decline{"a shape would have to be computed"};
  return Replacement{way.make(builder, blocks->x, type)};
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const auto blocks = blocks_of(*m.root, builder);
  if (!blocks) return blocks.error();
  if (!std::is_sorted(blocks->places.begin(), blocks->places.end()))
    return Decline{"the pieces have another order, and no convolution by a constant reads them"};
  return Replacement{space_to_depth(*blocks, m.root->output(0)->type, builder)};
}

/// The weight [M, pieces * C, ...] for pieces at these places.
std::optional<Tensor> moved(const Tensor& weight, const std::vector<int64_t>& places) {
  const std::vector<double> old = to_doubles(weight);
  const int64_t rows = weight.dim(0), pieces = static_cast<int64_t>(places.size()),
                length = weight.size() / rows / pieces;
  std::vector<double> numbers(old.size());
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < pieces; ++i)
      std::copy_n(old.begin() + (row * pieces + i) * length, length,
                  numbers.begin() + (row * pieces + places[static_cast<size_t>(i)]) * length);
  return tensor_like(weight, weight.dims(), numbers);
}

Expected<Replacement> rewrite_convolution(const Match& m, Builder& builder) {
  const Node* concat = m.node("concat");
  const auto blocks = blocks_of(*concat, builder);
  if (!blocks) return blocks.error();
  const Tensor& weight = m.constant("weight");
  const auto pieces = static_cast<int64_t>(blocks->places.size());
  if (builder.view(*m.root).get_int("group", 1) != 1) return Decline{"the convolution has groups of channels"};
  if (!m.value("weight")->single_use()) return Decline{"the weight of the convolution is used elsewhere too"};
  if (weight.rank() != 4 || weight.size() == 0 || weight.dim(1) % pieces != 0)
    return Decline{"the weight does not fit"};
  const auto made = moved(weight, blocks->places);
  if (!made) return Decline{"the weight's type is no float"};
  std::vector<Value*> inputs = m.root->inputs();
  inputs[0] = space_to_depth(*blocks, concat->output(0)->type, builder);
  inputs[1] = builder.successor(m.value("weight"), *made);
  return Replacement{builder.op("Conv", std::move(inputs), m.root->attrs, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  Pattern joined = Pattern::op("Concat", {}).open().as("concat").single_use();
  return {{Pattern::op("Concat", {}).open(), rewrite},
          {Pattern::op("Concat", {}).open(), rewrite_last},
          {Pattern::op("Conv", {std::move(joined), Pattern::constant("weight")}).open(), rewrite_convolution}};
}

}  // namespace

const Pass fuse_space_to_depth = {
    "fuse_space_to_depth", "Slices by steps that are joined as channels (the Focus of detectors) as one operator",
    rules};

}  // namespace mlopt::graphopt
