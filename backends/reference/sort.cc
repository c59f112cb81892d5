#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "backends/reference/kernels.h"
#include "backends/reference/movement.h"
#include "core/base/parallel.h"

namespace mlopt::reference {
namespace {

/// Total order of numbers: NaN above everything.
template <class T>
bool below(T a, T b) {
  return a < b || (b != b && a == a);
}

struct TopkRow {
  int64_t length, stride, k;
  bool largest, sorted;
};

/// The places of the k first elements of a row; equal ones in the order of their places.
template <class T>
void top_places(const T* row, const TopkRow& how, std::vector<int64_t>& places) {
  places.resize(static_cast<size_t>(how.length));
  std::iota(places.begin(), places.end(), 0);
  const auto before = [&](int64_t a, int64_t b) {
    const T x = row[a * how.stride], y = row[b * how.stride];
    if (how.largest ? below(y, x) : below(x, y)) return true;
    return (how.largest ? below(x, y) : below(y, x)) ? false : a < b;
  };
  const auto middle = places.begin() + how.k;
  if (how.sorted)
    std::partial_sort(places.begin(), middle, places.end(), before);
  else if (middle != places.end())
    std::nth_element(places.begin(), middle, places.end(), before);
}

void topk(Call& call) {
  const Tensor& data = call.in(0);
  const int axis = axis_of(call, call.view.get_int("axis", -1), data.rank());
  const int64_t count = call.view.has("k") ? call.view.get_int("k") : int_in(call, 1, 0);
  if (count < 0 || count > data.dim(axis))
    fail(call, fmt::format("k is {} on an axis of {} elements", count, data.dim(axis)));
  const AxisView view = around_axis(data.dims(), axis);
  const TopkRow how{view.length, view.inner, count, call.view.get_int("largest", 1) != 0,
                    call.view.get_int("sorted", 1) != 0};
  Dims dims = data.dims();
  dims[static_cast<size_t>(axis)] = how.k;
  Tensor places(DType::kI64, dims);
  auto* place = places.mutable_data<int64_t>();
  const Tensor wide = widened(data);
  with_number(call, data.dtype(), [&](auto sample) {
    using T = decltype(sample);
    const T* values = wide.data<T>();
    Tensor found(dtype_of<T>(), dims);
    T* cell = found.mutable_data<T>();
    parallel_for(how.k == 0 ? 0 : view.outer * view.inner, 1 + 16384 / std::max<int64_t>(1, how.length),
                 [&](int64_t begin, int64_t end) {
                   std::vector<int64_t> order;
                   for (int64_t row = begin; row < end; ++row) {
                     const int64_t outer = row / view.inner, inner = row % view.inner;
                     const T* source = values + outer * view.length * view.inner + inner;
                     top_places(source, how, order);
                     for (int64_t i = 0; i < how.k; ++i) {
                       const int64_t at = (outer * how.k + i) * view.inner + inner;
                       place[at] = order[static_cast<size_t>(i)];
                       cell[at] = source[order[static_cast<size_t>(i)] * view.inner];
                     }
                   }
                 });
    call.set(0, as(found, data.dtype()));
  });
  call.set(1, std::move(places));
}

/// Groups of equal slices: which slice represents each group, and the group of every slice.
struct Groups {
  std::vector<int64_t> first, group_of, counts;
};

/// `less` orders slices 0 .. n-1; groups in that order, or in the order of their first slices.
template <class Less>
Groups group_slices(int64_t n, const Less& less, bool sorted) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), less);
  std::vector<std::vector<int64_t>> members;
  for (const int64_t slice : order) {
    if (members.empty() || less(members.back().front(), slice)) members.emplace_back();
    members.back().push_back(slice);
  }
  if (!sorted)
    std::sort(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.front() < b.front(); });
  Groups groups;
  groups.group_of.resize(static_cast<size_t>(n));
  for (const std::vector<int64_t>& group : members) {
    for (const int64_t slice : group)
      groups.group_of[static_cast<size_t>(slice)] = static_cast<int64_t>(groups.first.size());
    groups.first.push_back(group.front());
    groups.counts.push_back(static_cast<int64_t>(group.size()));
  }
  return groups;
}

/// Groups the slices of `data` along its middle axis by their elements, compared in order.
Groups group_along(const Call& call, const Tensor& data, const AxisView& view, bool sorted) {
  const auto by = [&](const auto* values, const auto& element_less) {
    return group_slices(
        view.length,
        [&](int64_t a, int64_t b) {
          for (int64_t outer = 0; outer < view.outer; ++outer)
            for (int64_t inner = 0; inner < view.inner; ++inner) {
              const auto &x = values[(outer * view.length + a) * view.inner + inner],
                         &y = values[(outer * view.length + b) * view.inner + inner];
              if (element_less(x, y)) return true;
              if (element_less(y, x)) return false;
            }
          return false;
        },
        sorted);
  };
  if (data.dtype() == DType::kString) return by(data.strings().data(), std::less<std::string>());
  const Tensor wide = widened(data);
  return with_number(call, data.dtype(),
                     [&](auto sample) { return by(wide.data<decltype(sample)>(), below<decltype(sample)>); });
}

Tensor taken_along(const Tensor& data, int axis, const std::vector<int64_t>& places) {
  std::vector<std::vector<int64_t>> maps;
  for (const int64_t length : data.dims()) {
    maps.emplace_back(static_cast<size_t>(length));
    std::iota(maps.back().begin(), maps.back().end(), 0);
  }
  maps[static_cast<size_t>(axis)] = places;
  ElementCodec codec(data.dtype());
  return codec.close(gather_mapped(codec, codec.open(data), maps));
}

void unique(Call& call) {
  const bool flat = !call.view.has("axis");
  const Tensor data = flat ? call.in(0).reshaped({call.in(0).size()}) : call.in(0);
  const int axis = flat ? 0 : axis_of(call, call.view.get_int("axis"), data.rank());
  const Groups groups = group_along(call, data, around_axis(data.dims(), axis), call.view.get_int("sorted", 1) != 0);
  call.set(0, taken_along(data, axis, groups.first));
  call.set(1, Tensor::ints(groups.first));
  call.set(2, Tensor::ints(groups.group_of));
  call.set(3, Tensor::ints(groups.counts));
}

/// com.microsoft's Unique: a list, groups in the order in which they appear, no output of the first places.
void unique_list(Call& call) {
  const Tensor& data = call.in(0);
  require(call, data.rank() == 1, "the input must be a list");
  const Groups groups = group_along(call, data, around_axis(data.dims(), 0), false);
  call.set(0, taken_along(data, 0, groups.first));
  call.set(1, Tensor::ints(groups.group_of));
  call.set(2, Tensor::ints(groups.counts));
}

constexpr Kernel kKernels[] = {
    {"", "TopK", topk},
    {"", "Unique", unique},
    {"com.microsoft", "Unique", unique_list},
};

}  // namespace

std::span<const Kernel> sort_kernels() { return kKernels; }

}  // namespace mlopt::reference
