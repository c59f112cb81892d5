#include "backends/cpu/strided.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/transpose_block.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kGrain = 32768;  // elements below which a second thread costs more than it brings

}  // namespace

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
  if (find_tiles()) return;
  // A short innermost axis makes for many short loops.
  constexpr int64_t kShort = 8;
  const size_t n = axes_.size();
  if (n > 1 && axes_[n - 1].count < kShort && axes_[n - 1].from != 1 && axes_[n - 2].count > axes_[n - 1].count)
    std::swap(axes_[n - 1], axes_[n - 2]);
}

bool StridedCopy::find_tiles() {
  const int64_t tile = 16 / static_cast<int64_t>(width_);
  const auto own = std::find_if(axes_.begin(), axes_.end(), [](const Axis& a) { return a.from == 1; });
  if (own == axes_.end() || own + 1 == axes_.end() || axes_.back().to != 1 || tile < 2) return false;
  if (own->count < tile || axes_.back().count < tile) return false;
  std::rotate(own, own + 1, axes_.end() - 1);
  return tiled_ = true;
}

StridedCopy::Place StridedCopy::place(int64_t index, size_t axes) const {
  Place place{0, 0};
  for (size_t k = axes; k-- > 0; index /= axes_[k].count) {
    const int64_t i = index % axes_[k].count;
    place.from += i * axes_[k].from;
    place.to += i * axes_[k].to;
  }
  return place;
}

int64_t StridedCopy::count(size_t axes) const {
  int64_t product = 1;
  for (size_t k = 0; k < axes; ++k) product *= axes_[k].count;
  return product;
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

/// So many things in chunks of `each`, the last of which has what remains too.
struct Chunks {
  Chunks(int64_t count, int64_t each) : count(count), each(each), number(std::max<int64_t>(1, count / each)) {}
  int64_t size(int64_t k) const { return k + 1 == number ? count - k * each : each; }
  int64_t count, each, number;
};

}  // namespace

template <class T>
void StridedCopy::copy_lines(const T* from, T* to) const {
  const Axis line = axes_.back();
  const size_t outer = axes_.size() - 1;
  parallel_for(count(outer), std::max<int64_t>(1, kGrain / line.count), [&](int64_t begin, int64_t end) {
    const Axis inner = outer > 0 ? axes_[outer - 1] : Axis{1, 0, 0};
    while (begin < end) {
      const Place at = place(begin, outer);
      const int64_t row = std::min(inner.count - begin % inner.count, end - begin);
      if (row == 2 && inner.to == 1 && line.from == 1 && line.to == 2)
        interleave(from + at.from, from + at.from + inner.from, to + at.to, line.count);
      else
        for (int64_t i = 0; i < row; ++i)
          copy_line(from + at.from + i * inner.from, to + at.to + i * inner.to, line.count, line.from, line.to);
      begin += row;
    }
  });
}

template <class T>
void StridedCopy::copy_tiles(const T* from, T* to) const {
  // Of the columns as many as lie in pages that the processor finds fast; of the rows enough to be worth a call.
  constexpr int64_t kRows = 256, kColumns = 64;
  const size_t outer = axes_.size() - 2;
  const Axis rows = axes_[outer], columns = axes_[outer + 1];
  const Chunks down(rows.count, kRows), across(columns.count, kColumns);
  const int64_t blocks = down.number * across.number;
  parallel_for(count(outer) * blocks, kGrain / (kRows * kColumns), [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const Place at = place(unit / blocks, outer);
      const int64_t r = unit % down.number, c = unit / down.number % across.number;
      const int64_t row = r * kRows, column = c * kColumns;
      transpose_block(from + at.from + row + column * columns.from, to + at.to + row * rows.to + column, down.size(r),
                      across.size(c), columns.from, rows.to);
    }
  });
}

void StridedCopy::run(const std::byte* from, std::byte* to) const {
  if (is_nothing() && from == to) return;
  by_width(width_, [&](auto sample) {
    using T = decltype(sample);
    const T* source = reinterpret_cast<const T*>(from);
    T* target = reinterpret_cast<T*>(to);
    if constexpr (sizeof(T) < 16)
      if (tiled_) return copy_tiles(source, target);
    copy_lines(source, target);
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
