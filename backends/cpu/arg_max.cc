// ArgMax and ArgMin.
#include <algorithm>
#include <array>
#include <limits>

#include "backends/cpu/column_pieces.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/middle.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

/// Whether an element comes before the best so far, which stands earlier on the axis. NaN is the extreme.
template <class T, bool largest, bool last>
bool better(T now, T best) {
  const bool beyond = largest ? now > best : now < best;
  return beyond || (now != now && best == best) || (last && now == best);
}

constexpr int64_t kGrain = 16384;  // elements below which a second thread costs more than it brings
constexpr int64_t kPiece = 512;    // columns

/// The best of each of several columns, and where it stands.
template <class T>
struct Best {
  /// Takes `count` rows of so many columns, `step` elements apart.
  template <bool largest, bool last>
  void take(const T* rows, int64_t count, int64_t step, int64_t columns) {
    T* value = values.data();
    int32_t* place = places.data();
    std::copy_n(rows, columns, value);
    std::fill_n(place, columns, 0);
    for (int32_t row = 1; row < count; ++row) {
      const T* x = rows + row * step;
      for (int64_t i = 0; i < columns; ++i) {
        const bool is = better<T, largest, last>(x[i], value[i]);
        value[i] = is ? x[i] : value[i];
        place[i] = is ? row : place[i];
      }
    }
  }

  std::array<T, kPiece> values;
  std::array<int32_t, kPiece> places;
};

/// The middle axis of [outer, length, inner], whole rows of the inner axis at a time.
template <class T, bool largest, bool last>
void along_columns(const Middle& m, const T* x, int64_t* out) {
  for_column_pieces(m, kPiece, kGrain, [&](int64_t outer, int64_t first, int64_t count) {
    Best<T> best;
    best.template take<largest, last>(x + outer * m.length * m.inner + first, m.length, m.inner, count);
    std::copy_n(best.places.data(), count, out + outer * m.inner + first);
  });
}

/// The last axis: its elements in turn as columns, of whose best the best is taken.
template <class T, bool largest, bool last>
void along_rows(const Middle& m, const T* x, int64_t* out) {
  constexpr int64_t kColumns = 64;
  const int64_t columns = std::min(kColumns, m.length), rows = m.length / columns;
  parallel_for(m.outer, std::max<int64_t>(1, kGrain / m.length), [&](int64_t begin, int64_t end) {
    Best<T> best;
    for (int64_t i = begin; i < end; ++i) {
      const T* line = x + i * m.length;
      best.template take<largest, last>(line, rows, columns, columns);
      int64_t at = best.places[0] * columns;
      const auto consider = [&](int64_t place) {
        const T now = line[place], before = line[at];
        const bool equal = now == before || (now != now && before != before);
        const bool earlier = (place < at) != (last && now == now);
        if (equal ? earlier : better<T, largest, false>(now, before)) at = place;
      };
      for (int64_t k = 1; k < columns; ++k) consider(best.places[static_cast<size_t>(k)] * columns + k);
      for (int64_t k = rows * columns; k < m.length; ++k) consider(k);
      out[i] = at;
    }
  });
}

template <class T, bool largest, bool last>
void run(const Middle& m, const Buffers& b) {
  if (m.inner == 1) return along_rows<T, largest, last>(m, b.in<T>(0), b.out<int64_t>(0));
  along_columns<T, largest, last>(m, b.in<T>(0), b.out<int64_t>(0));
}

template <class T>
std::function<void(const Buffers&)> runner(const Middle& m, bool largest, bool last) {
  const auto chosen =
      largest ? (last ? run<T, true, true> : run<T, true, false>) : (last ? run<T, false, true> : run<T, false, false>);
  return [m, chosen](const Buffers& b) { chosen(m, b); };
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  if (x.dims.empty() || x.size() == 0) return Decline{"no axis, or no elements"};
  const auto axis =
      static_cast<size_t>(normalize_axis(site.view.get_int("axis", 0), static_cast<int64_t>(x.dims.size())));
  const Middle m = around(x.dims, axis);
  if (m.length > std::numeric_limits<int32_t>::max()) return Decline{"an axis of more than 2^31 elements"};
  TensorDesc out{DType::kI64, x.dims};
  if (site.view.get_int("keepdims", 1) != 0)
    out.dims[axis] = 1;
  else
    out.dims.erase(out.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  PlannedStep step{.out = {out}};
  const bool largest = site.view.node().op == "ArgMax", last = site.view.get_int("select_last_index", 0) != 0;
  if (x.dtype == DType::kF32) step.run = runner<float>(m, largest, last);
  if (x.dtype == DType::kI64) step.run = runner<int64_t>(m, largest, last);
  if (x.dtype == DType::kI32) step.run = runner<int32_t>(m, largest, last);
  if (!step.run) return Decline{"not this type"};
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "ArgMax", .plan = plan},
    {.domain = "", .op = "ArgMin", .plan = plan},
};

}  // namespace

std::span<const Kernel> arg_max_kernels() { return kKernels; }

}  // namespace mlopt::cpu
