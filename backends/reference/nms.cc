#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/reference/compute.h"
#include "backends/reference/kernels.h"

namespace mlopt::reference {
namespace {

template <class T>
struct Box {
  T left, top, right, bottom;
};

/// Two opposite corners (y1, x1, y2, x2), or centre and size (x, y, width, height).
template <class T>
Box<T> box_from(const T* v, bool center) {
  if (center) return {v[0] - v[2] / 2, v[1] - v[3] / 2, v[0] + v[2] / 2, v[1] + v[3] / 2};
  return {std::min(v[1], v[3]), std::min(v[0], v[2]), std::max(v[1], v[3]), std::max(v[0], v[2])};
}

/// The two boxes share more than `threshold` of their union.
template <class T>
bool overlap(const Box<T>& a, const Box<T>& b, T threshold) {
  const T width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const T height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const T first = (a.right - a.left) * (a.bottom - a.top), second = (b.right - b.left) * (b.bottom - b.top);
  if (!(width > 0 && height > 0 && first > 0 && second > 0)) return false;
  const T both = width * height;
  return both / (first + second - both) > threshold;
}

template <class T>
struct Limits {
  int64_t most;
  T overlap, score;
  bool by_score, center;
};

/// The boxes to keep of one class of one picture, best first.
template <class T>
std::vector<int64_t> keep(const T* boxes, const T* scores, int64_t count, const Limits<T>& limits) {
  std::vector<int64_t> candidates, kept;
  for (int64_t i = 0; i < count; ++i)
    if (scores[i] == scores[i] && (!limits.by_score || scores[i] > limits.score)) candidates.push_back(i);
  std::stable_sort(candidates.begin(), candidates.end(), [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
  std::vector<Box<T>> taken;
  for (const int64_t i : candidates) {
    if (static_cast<int64_t>(kept.size()) >= limits.most) break;
    const Box<T> box = box_from(boxes + i * 4, limits.center);
    const auto hides = [&](const Box<T>& other) { return overlap(box, other, limits.overlap); };
    if (std::any_of(taken.begin(), taken.end(), hides)) continue;
    taken.push_back(box);
    kept.push_back(i);
  }
  return kept;
}

void non_max_suppression(Call& call) {
  const Tensor &boxes = call.in(0), &scores = call.in(1);
  require(call, boxes.rank() == 3 && boxes.dim(2) == 4 && scores.rank() == 3, "boxes and scores must have three axes");
  require(call, boxes.dim(0) == scores.dim(0) && boxes.dim(1) == scores.dim(2), "boxes and scores do not fit");
  require(call, boxes.dtype() == scores.dtype(), "boxes and scores have different types");
  const int64_t count = boxes.dim(1), classes = scores.dim(1);
  std::vector<int64_t> found;
  with_float(call, boxes.dtype(), [&](auto sample) {
    using T = decltype(sample);
    const Tensor wide_boxes = widened(boxes), wide_scores = widened(scores);
    const Limits<T> limits{int_in(call, 2, 0), static_cast<T>(number_in(call, 3, 0)),
                           static_cast<T>(number_in(call, 4, 0)), call.has(4),
                           call.view.get_int("center_point_box", 0) != 0};
    for (int64_t row = 0; row < boxes.dim(0) * classes; ++row) {
      const T* corners = wide_boxes.data<T>() + row / classes * count * 4;
      for (const int64_t i : keep(corners, wide_scores.data<T>() + row * count, count, limits))
        found.insert(found.end(), {row / classes, row % classes, i});
    }
  });
  call.set(0, Tensor::of({static_cast<int64_t>(found.size() / 3), 3}, found));
}

constexpr Kernel kKernels[] = {
    {"", "NonMaxSuppression", non_max_suppression},
};

}  // namespace

std::span<const Kernel> nms_kernels() { return kKernels; }

}  // namespace mlopt::reference
