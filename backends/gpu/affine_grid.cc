// AffineGrid of a known size -> the product of its points, which are known then, and the matrices. The standard's own
// body fails for one matrix.
#include "backends/gpu/expand.h"
#include "core/tensor/cast.h"

namespace mlopt::gpu {
namespace {

/// Place `i` of `length` on [-1, 1]: from end to end, or the centres of equal cells.
double place(int64_t i, int64_t length, bool align_corners) {
  const auto at = static_cast<double>(i), n = static_cast<double>(length);
  return !align_corners ? (2 * at + 1) / n - 1 : length == 1 ? 0 : 2 * at / (n - 1) - 1;
}

/// Each point of these axes as x, y, (z,) 1.
Tensor points_of(std::span<const int64_t> axes, bool align_corners) {
  const int64_t rank = std::ssize(axes);
  int64_t count = 1;
  for (const int64_t length : axes) count *= length;
  Tensor points(DType::kF64, {count, rank + 1});
  double* at = points.mutable_data<double>();
  for (int64_t item = 0; item < count; ++item) {
    int64_t rest = item;
    for (int64_t axis = rank; axis-- > 0;) {
      const int64_t length = axes[static_cast<size_t>(axis)];
      *at++ = place(rest % length, length, align_corners);
      rest /= length;
    }
    *at++ = 1;
  }
  return points;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const NodeView view = builder.view(*m.root);
  Value* theta = m.root->input(0);
  const auto size = view.ints("size", 1);
  const auto dims = theta->type.static_dims();
  if (!size || (size->size() != 4 && size->size() != 5)) return Decline{"its size is not known"};
  const std::span<const int64_t> axes = std::span(*size).subspan(2);
  const int64_t rank = std::ssize(axes);
  if (dims != Dims{size->front(), rank, rank + 1} || element_count(Dims(size->begin(), size->end())) == 0)
    return Decline{"the matrices do not fit the size"};
  const DType type = theta->type.dtype;
  if (!is_float(type)) return Decline{"not of floats"};
  Value* points = builder.constant("points", cast(points_of(axes, view.get_int("align_corners", 0) != 0), type));
  Value* turned = builder.op("Transpose", {theta}, {{"perm", std::vector<int64_t>{0, 2, 1}, ""}},
                             Type::tensor(type, Dims{size->front(), rank + 1, rank}));
  Value* grid = builder.op("MatMul", {points, turned}, {},
                           Type::tensor(type, Dims{size->front(), points->type.static_dims()->front(), rank}));
  std::vector<int64_t> made(axes.begin(), axes.end());
  made.insert(made.begin(), size->front());
  made.push_back(rank);
  return Replacement{
      builder.op("Reshape", {grid, builder.constant("dims", Tensor::ints(made))}, {}, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("AffineGrid", {Pattern::any("theta"), Pattern::any("size")}), rewrite}};
}

}  // namespace

const Pass affine_grid = {"affine_grid", "AffineGrid as a product with known points", rules};

}  // namespace mlopt::gpu
