#include "backends/cpu/strided.h"

#include <algorithm>
#include <cstring>

#include "core/base/parallel.h"

namespace mlopt::cpu {

std::optional<size_t> element_bytes(DType type) {
  const int size = bits(type);
  if (size < 8 || size % 8 != 0) return std::nullopt;
  return static_cast<size_t>(size) / 8;
}

StridedCopy::StridedCopy(size_t width, const Dims& dims, const Dims& from, const Dims& to) : width_(width) {
  std::vector<Axis> axes;
  for (size_t k = 0; k < dims.size(); ++k)
    if (dims[k] != 1) axes.push_back({dims[k], from[k], to[k]});
  std::stable_sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.to > b.to; });
  for (const Axis& a : axes) {
    if (!axes_.empty() && axes_.back().from == a.from * a.count && axes_.back().to == a.to * a.count)
      axes_.back() = {axes_.back().count * a.count, a.from, a.to};
    else
      axes_.push_back(a);
  }
  if (axes_.empty()) axes_.push_back({1, 1, 1});
  // A short innermost axis makes for many short loops.
  constexpr int64_t kShort = 8;
  const size_t n = axes_.size();
  if (n > 1 && axes_[n - 1].count < kShort && axes_[n - 1].from != 1 && axes_[n - 2].count > axes_[n - 1].count)
    std::swap(axes_[n - 1], axes_[n - 2]);
}

bool StridedCopy::is_nothing() const { return axes_.size() == 1 && axes_[0].from == 1 && axes_[0].to == 1; }

namespace {

template <class T>
void copy_line(const T* from, T* to, int64_t count, int64_t from_step, int64_t to_step) {
  if (from_step == 1 && to_step == 1) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
  } else if (from_step == 0 && to_step == 1) {
    std::fill_n(to, count, *from);
  } else if (to_step == 1) {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i * from_step];
  } else {
    for (int64_t i = 0; i < count; ++i) to[i * to_step] = from[i * from_step];
  }
}

/// Two lines whose elements alternate in the target.
template <class T>
void interleave(const T* a, const T* b, T* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    to[2 * i] = a[i];
    to[2 * i + 1] = b[i];
  }
}

}  // namespace

template <class T>
void StridedCopy::copy(const T* from, T* to) const {
  constexpr int64_t kGrain = 32768;  // elements below which a second thread costs more than it brings
  const Axis line = axes_.back();
  int64_t lines = 1;
  for (size_t k = 0; k + 1 < axes_.size(); ++k) lines *= axes_[k].count;
  parallel_for(lines, std::max<int64_t>(1, kGrain / line.count), [&](int64_t begin, int64_t end) {
    while (begin < end) {
      int64_t rest = begin, at_from = 0, at_to = 0, row = 1;
      Axis inner{1, 0, 0};
      for (size_t k = axes_.size() - 1; k-- > 0; rest /= axes_[k].count) {
        const int64_t i = rest % axes_[k].count;
        at_from += i * axes_[k].from;
        at_to += i * axes_[k].to;
        if (k + 2 == axes_.size()) inner = axes_[k], row = inner.count - i;
      }
      row = std::min(row, end - begin);
      if (row == 2 && inner.to == 1 && line.from == 1 && line.to == 2)
        interleave(from + at_from, from + at_from + inner.from, to + at_to, line.count);
      else
        for (int64_t i = 0; i < row; ++i)
          copy_line(from + at_from + i * inner.from, to + at_to + i * inner.to, line.count, line.from, line.to);
      begin += row;
    }
  });
}

void StridedCopy::run(const std::byte* from, std::byte* to) const {
  if (is_nothing() && from == to) return;
  by_width(width_, [&](auto sample) {
    using T = decltype(sample);
    copy(reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to));
  });
}

PlannedStep view_or_copy(PlannedStep step, const StridedCopy& copy, int64_t offset) {
  if (copy.is_nothing()) {
    step.view_of = 0;
    step.view_offset = offset;
  } else {
    step.run = [=](const Buffers& b) { copy.run(b.in<std::byte>(0) + offset, b.out<std::byte>(0)); };
  }
  return step;
}

}  // namespace mlopt::cpu
