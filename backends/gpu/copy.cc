// What only moves elements: Transpose, Slice, Split, Concat, Expand, Tile, DepthToSpace and SpaceToDepth.
#include <algorithm>
#include <numeric>
#include <utility>

#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"
#include "core/ir/slice_span.h"

namespace mlopt::gpu {
namespace {

/// Elements that go from one tensor to another.
struct Move {
  Dims dims, from, to;  ///< the index space, and the strides in each
  int64_t from_offset = 0, to_offset = 0;
};

/// Moves into output `out` what input `in` has.
Expected<std::function<void(const Buffers&)>> mover(const Move& move, int width, int in, int out) {
  if (element_count(move.dims) == 0) return std::function<void(const Buffers&)>([](const Buffers&) {});
  const auto walk = walk_over<2>(move.dims, {move.from, move.to});
  if (!walk) return walk.error();
  return std::function<void(const Buffers&)>(
      [walk = *walk, width, in, out, from = move.from_offset * width, to = move.to_offset * width](const Buffers& b) {
        launch(b, &Kernels::copy, CopyArgs{width, walk, b.in<std::byte>(in) + from, b.out<std::byte>(out) + to});
      });
}

/// A step that makes output 0 of input 0: a view where that is all.
Expected<PlannedStep> one_move(const Site& site, Dims dims, const Move& move) {
  const TensorDesc& x = site.desc(0);
  const auto width = width_of(x.dtype);
  if (!width) return width.error();
  PlannedStep step{.out = {{x.dtype, std::move(dims)}}};
  for (int i = 1; i < static_cast<int>(site.in.size()); ++i) step.packed.push_back(i);
  bool same = move.to_offset == 0;
  for (size_t k = 0; k < move.dims.size(); ++k) same = same && (move.dims[k] == 1 || move.from[k] == move.to[k]);
  if (same) {
    step.view_of = 0;
    step.view_offset = move.from_offset * *width;
    return step;
  }
  auto run = mover(move, *width, 0, 0);
  if (!run) return run.error();
  step.run = *std::move(run);
  return step;
}

Expected<PlannedStep> plan_transpose(const Site& site) {
  const Dims& x = site.desc(0).dims;
  const Dims strides = row_major_strides(x);
  Dims perm(x.size());
  std::iota(perm.rbegin(), perm.rend(), 0);
  perm = site.view.get_ints("perm", perm);
  if (perm.size() != x.size()) return Decline{"the permutation does not fit"};
  Move move;
  for (const int64_t axis : perm) {
    if (axis < 0 || axis >= static_cast<int64_t>(perm.size())) return Decline{"the permutation does not fit"};
    move.dims.push_back(x[static_cast<size_t>(axis)]);
    move.from.push_back(strides[static_cast<size_t>(axis)]);
  }
  move.to = row_major_strides(move.dims);
  return one_move(site, move.dims, move);
}

Expected<PlannedStep> plan_slice(const Site& site) {
  const Dims& x = site.desc(0).dims;
  const auto spans = slice_spans(site.view, x);
  if (!spans) return spans.error();
  Move move{x, row_major_strides(x), {}};
  for (size_t axis = 0; axis < spans->size(); ++axis) {
    const SliceSpan& span = (*spans)[axis];
    move.dims[axis] = span.count;
    move.from_offset += span.first * move.from[axis];
    move.from[axis] *= span.step;
  }
  if (element_count(move.dims) == 0) return Decline{"nothing is taken"};
  move.to = row_major_strides(move.dims);
  return one_move(site, move.dims, move);
}

Expected<PlannedStep> plan_expand(const Site& site) {
  const auto dims = site.view.node().output(0)->type.static_dims();
  if (!dims) return Decline{"its shape is not known"};
  return one_move(site, *dims, {*dims, broadcast_strides(site.desc(0).dims, *dims), row_major_strides(*dims)});
}

Expected<PlannedStep> plan_tile(const Site& site) {
  const Dims& x = site.desc(0).dims;
  const auto repeats = site.view.ints("", 1);
  if (!repeats || repeats->size() != x.size()) return Decline{"how often is not constant"};
  Move move;
  Dims out, strides = row_major_strides(x);
  for (size_t k = 0; k < x.size(); ++k) {
    out.push_back(x[k] * (*repeats)[k]);
    move.dims.insert(move.dims.end(), {(*repeats)[k], x[k]});
    move.from.insert(move.from.end(), {0, strides[k]});
  }
  move.to = row_major_strides(move.dims);
  return one_move(site, out, move);
}

/// [N, C, H, W] as [N, (b, b, C) or (C, b, b), H, W] and back.
Expected<PlannedStep> plan_blocks(const Site& site) {
  const Dims& x = site.desc(0).dims;
  const bool to_space = site.view.node().op == "DepthToSpace";
  const bool behind = site.view.get_string("mode", "DCR") == "CRD";
  const int64_t b = site.view.get_int("blocksize", 0);
  if (x.size() != 4 || b < 1 || b > 65536) return Decline{"not an image"};
  const bool fits = to_space ? x[1] % (b * b) == 0 : x[2] % b == 0 && x[3] % b == 0;
  if (!fits) return Decline{"blocks do not fit"};
  // Small: [N, c, h, w] of the spatial side. Index space: N, c, h, by, w, bx.
  const int64_t c = to_space ? x[1] / (b * b) : x[1], h = to_space ? x[2] : x[2] / b, w = to_space ? x[3] : x[3] / b;
  const int64_t plane = h * w, by = behind ? b * plane : b * c * plane, bx = behind ? plane : c * plane;
  const int64_t channel = behind ? b * b * plane : plane;
  const Dims index{x[0], c, h, b, w, b}, space = row_major_strides(index),
                                         depth{c * b * b * plane, channel, w, by, 1, bx};
  const Dims out = to_space ? Dims{x[0], c, h * b, w * b} : Dims{x[0], c * b * b, h, w};
  return one_move(site, out, to_space ? Move{index, depth, space} : Move{index, space, depth});
}

Expected<PlannedStep> plan_concat(const Site& site) {
  const TensorDesc& first = site.desc(0);
  const auto width = width_of(first.dtype);
  if (!width) return width.error();
  const auto rank = static_cast<int64_t>(first.dims.size());
  const auto axis = static_cast<size_t>(normalize_axis(site.view.get_int("axis", 1), rank));
  Dims out = first.dims;
  out[axis] = 0;
  for (const auto& desc : site.in) {
    if (!desc || desc->dtype != first.dtype || desc->dims.size() != out.size()) return Decline{"pieces do not fit"};
    out[axis] += desc->dims[axis];
  }
  const TensorDesc made{first.dtype, out, first.layout};
  const Dims strides = made.strides();
  const auto ordered = [&](Dims axes) { return in_memory_order(std::move(axes), made.layout); };
  std::vector<std::function<void(const Buffers&)>> moves;
  int64_t offset = 0;
  for (int i = 0; i < static_cast<int>(site.in.size()); ++i) {
    const TensorDesc& piece = site.desc(i);
    auto move = mover({ordered(piece.dims), ordered(piece.strides()), ordered(strides), 0, offset}, *width, i, 0);
    if (!move) return move.error();
    moves.push_back(*std::move(move));
    offset += piece.dims[axis] * strides[axis];
  }
  PlannedStep step{.out = {made}};
  step.run = [moves = std::move(moves)](const Buffers& b) {
    for (const auto& move : moves) move(b);
  };
  return step;
}

/// The pieces' shapes are those that inference found.
Expected<PlannedStep> plan_split(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto width = width_of(x.dtype);
  if (!width || x.dims.empty()) return Decline{"a scalar, or elements of less than a byte"};
  const auto rank = static_cast<int64_t>(x.dims.size());
  const auto axis = static_cast<size_t>(normalize_axis(site.view.get_int("axis", 0), rank));
  const Dims strides = row_major_strides(x.dims);
  PlannedStep step;
  if (site.has(1)) step.packed = {1};
  std::vector<std::function<void(const Buffers&)>> moves;
  int64_t offset = 0;
  for (const Value* piece : site.view.node().outputs()) {
    const auto dims = piece ? piece->type.static_dims() : std::nullopt;
    if (!dims || dims->size() != x.dims.size()) return Decline{"the lengths are not known"};
    auto move = mover({*dims, strides, row_major_strides(*dims), offset, 0}, *width, 0, static_cast<int>(moves.size()));
    if (!move) return move.error();
    moves.push_back(*std::move(move));
    step.out.push_back({x.dtype, *dims});
    offset += (*dims)[axis] * strides[axis];
  }
  if (offset != x.dims[axis] * strides[axis]) return Decline{"the pieces do not fit"};
  if (std::all_of(x.dims.begin(), x.dims.begin() + static_cast<int64_t>(axis), [](int64_t d) { return d == 1; })) {
    step.view_of = 0;
    return step;
  }
  step.run = [moves = std::move(moves)](const Buffers& b) {
    for (const auto& move : moves) move(b);
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Transpose", .plan = plan_transpose},
    {.domain = "", .op = "Slice", .plan = plan_slice},
    {.domain = "", .op = "Split", .plan = plan_split},
    {.domain = "", .op = "Concat", .plan = plan_concat, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Expand", .plan = plan_expand},
    {.domain = "", .op = "Tile", .plan = plan_tile},
    {.domain = "", .op = "DepthToSpace", .plan = plan_blocks},
    {.domain = "", .op = "SpaceToDepth", .plan = plan_blocks},
};

}  // namespace

std::span<const Kernel> copy_kernels() { return kKernels; }

}  // namespace mlopt::gpu
