// NonMaxSuppression of float32.
#include <algorithm>
#include <functional>
#include <vector>

#include "backends/cpu/at_run.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/ranks.h"
#include "backends/cpu/targets.h"
#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/tensor/cast.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/non_max_suppression.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

#ifndef MLOPT_BACKENDS_CPU_NON_MAX_SUPPRESSION
#define MLOPT_BACKENDS_CPU_NON_MAX_SUPPRESSION
namespace mlopt::cpu {

/// Corners and area.
struct Box {
  float left, top, right, bottom, area;
};

/// Boxes side by side, by side; room for a vector more, whose areas are 0.
struct Boxes {
  static constexpr size_t kRoom = 64;

  explicit Boxes(size_t most) {
    for (auto* side : {&left, &top, &right, &bottom, &area}) side->assign(most + kRoom, 0);
  }
  void add(const Box& b) {
    left[count] = b.left, top[count] = b.top, right[count] = b.right, bottom[count] = b.bottom, area[count] = b.area;
    ++count;
  }

  std::vector<float> left, top, right, bottom, area;
  size_t count = 0;
};

}  // namespace mlopt::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

/// Does one of the boxes share more than `threshold` of its union with this one?
bool Hides(const Boxes& boxes, const Box& box, float threshold) {
  const F d;
  const V left = constant(box.left), top = constant(box.top), right = constant(box.right),
          bottom = constant(box.bottom);
  const V zero = hn::Zero(d);
  if (!(box.area > 0)) return false;
  for (size_t i = 0; i < boxes.count; i += hn::Lanes(d)) {
    const V area = hn::LoadU(d, boxes.area.data() + i);
    const V width = hn::Sub(hn::Min(right, hn::LoadU(d, boxes.right.data() + i)),
                            hn::Max(left, hn::LoadU(d, boxes.left.data() + i)));
    const V height = hn::Sub(hn::Min(bottom, hn::LoadU(d, boxes.bottom.data() + i)),
                             hn::Max(top, hn::LoadU(d, boxes.top.data() + i)));
    const auto meet = hn::And(hn::And(hn::Gt(width, zero), hn::Gt(height, zero)), hn::Gt(area, zero));
    if (hn::AllFalse(d, meet)) continue;
    const V both = hn::Mul(width, height);
    const V share = hn::Div(both, hn::Sub(hn::Add(constant(box.area), area), both));
    if (!hn::AllFalse(d, hn::And(meet, hn::Gt(share, constant(threshold))))) return true;
  }
  return false;
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {
namespace {

HWY_EXPORT(Hides);

/// From two opposite corners (y1, x1, y2, x2), or centre and size (x, y, width, height).
Box box_of(const float* v, bool center) {
  Box b{std::min(v[1], v[3]), std::min(v[0], v[2]), std::max(v[1], v[3]), std::max(v[0], v[2]), 0};
  if (center) b = {v[0] - v[2] / 2, v[1] - v[3] / 2, v[0] + v[2] / 2, v[1] + v[3] / 2, 0};
  b.area = (b.right - b.left) * (b.bottom - b.top);
  return b;
}

struct Limits {
  int64_t most;
  float overlap, score;
  bool by_score, center;
};

/// The boxes to keep of one class of one picture, best first.
std::vector<int64_t> keep(const float* boxes, const float* scores, int64_t count, const Limits& limits) {
  std::vector<uint64_t> ranks;
  for (int64_t i = 0; i < count; ++i)
    if (scores[i] == scores[i] && (!limits.by_score || scores[i] > limits.score))
      ranks.push_back(rank_of(scores[i], static_cast<uint32_t>(i), true));
  std::sort(ranks.begin(), ranks.end(), std::greater<>());
  std::vector<int64_t> kept;
  const auto most = static_cast<size_t>(std::max<int64_t>(limits.most, 0));
  Boxes taken(std::min(ranks.size(), most));
  const auto hides = HWY_DYNAMIC_DISPATCH(Hides);
  for (size_t k = 0; k < ranks.size() && kept.size() < most; ++k) {
    const int64_t place = place_of(ranks[k]);
    const Box box = box_of(boxes + place * 4, limits.center);
    if (hides(taken, box, limits.overlap)) continue;
    taken.add(box);
    kept.push_back(place);
  }
  return kept;
}

/// The number in an input of one, else 0.
double number_in(const Call& call, int i) {
  return call.has(i) && call.in(i).size() > 0 ? number_at(call.in(i), 0) : 0;
}

bool run(Call& call) {
  const Tensor &boxes = call.in(0), &scores = call.in(1);
  if (boxes.dtype() != DType::kF32 || scores.dtype() != DType::kF32) return false;
  if (boxes.rank() != 3 || scores.rank() != 3 || boxes.dim(2) != 4 || boxes.dim(0) != scores.dim(0) ||
      boxes.dim(1) != scores.dim(2) || boxes.dim(1) >= int64_t{1} << 32)
    return false;  // for its words
  const int64_t count = boxes.dim(1), classes = scores.dim(1), lists = boxes.dim(0) * classes;
  const Limits limits{call.has(2) && call.in(2).size() > 0 ? to_ints(call.in(2))[0] : 0,
                      static_cast<float>(number_in(call, 3)), static_cast<float>(number_in(call, 4)), call.has(4),
                      call.view.get_int("center_point_box", 0) != 0};
  std::vector<std::vector<int64_t>> kept(static_cast<size_t>(lists));
  parallel_for(lists, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      kept[static_cast<size_t>(i)] =
          keep(boxes.data<float>() + i / classes * count * 4, scores.data<float>() + i * count, count, limits);
  });
  std::vector<int64_t> found;
  for (int64_t i = 0; i < lists; ++i)
    for (const int64_t place : kept[static_cast<size_t>(i)])
      found.insert(found.end(), {i / classes, i % classes, place});
  call.set(0, Tensor::of({static_cast<int64_t>(found.size() / 3), 3}, found));
  return true;
}

Expected<Step> compile(const NodeView& view, const CompileContext& context) { return at_run(view, context, run); }

constexpr Kernel kKernels[] = {{.domain = "", .op = "NonMaxSuppression", .compile = compile}};

}  // namespace

std::span<const Kernel> non_max_suppression_kernels() { return kKernels; }

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
