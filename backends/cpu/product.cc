#include "backends/cpu/product.h"

#include <algorithm>
#include <utility>

namespace mlopt::cpu {
namespace {

Dims batch_of(const Dims& dims) { return Dims(dims.begin(), dims.end() - 2); }

Dims with_matrix(Dims batch, int64_t rows, int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

/// Batches of both operands with adjacent axes merged where both step alike; an operand that repeats has 1.
std::pair<Dims, Dims> merged(const Dims& a, const Dims& b, const Dims& out) {
  Dims left, right;
  const auto own = [&](const Dims& d, size_t axis) {
    const size_t missing = out.size() - d.size();
    return axis < missing ? int64_t{1} : d[axis - missing];
  };
  std::pair<bool, bool> last;
  for (size_t axis = 0; axis < out.size(); ++axis) {
    if (out[axis] == 1) continue;
    const std::pair moves(own(a, axis) != 1, own(b, axis) != 1);
    if (left.empty() || moves != last) {
      left.push_back(1);
      right.push_back(1);
    }
    if (moves.first) left.back() *= out[axis];
    if (moves.second) right.back() *= out[axis];
    last = moves;
  }
  return {left, right};
}

}  // namespace

Expected<Product> product_of(Dims a, Dims b, bool swap_a, bool swap_b) {
  if (a.empty() || b.empty()) return Decline{"an operand is a scalar"};
  const bool row = a.size() == 1, column = b.size() == 1;
  if ((row && swap_a) || (column && swap_b)) return Decline{"a vector has no axes to swap"};
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  if (swap_a) std::swap(a[a.size() - 1], a[a.size() - 2]);
  if (swap_b) std::swap(b[b.size() - 1], b[b.size() - 2]);
  const int64_t m = a[a.size() - 2], k = a.back(), n = b.back();
  if (b[b.size() - 2] != k) return Decline{"the inner axes differ"};
  const Dims out = broadcast(batch_of(a), batch_of(b));
  auto [left, right] = merged(batch_of(a), batch_of(b), out);
  Product p;
  p.result = out;
  if (!row) p.result.push_back(m);
  if (!column) p.result.push_back(n);
  const bool one_matrix = std::all_of(right.begin(), right.end(), [](int64_t d) { return d == 1; });
  if (one_matrix && !swap_a) {  // the rows of all left matrices are rows of one
    const int64_t rows = element_count(out) * m;
    p.a = {rows, k};
    p.b = {k, n};
    p.out = {rows, n};
    return p;
  }
  Dims batch(left.size());
  std::transform(left.begin(), left.end(), right.begin(), batch.begin(),
                 [](int64_t x, int64_t y) { return std::max(x, y); });
  p.a = with_matrix(std::move(left), m, k);
  p.b = with_matrix(std::move(right), k, n);
  p.out = with_matrix(std::move(batch), m, n);
  return p;
}

Desc matrix(Elem type, const Dims& dims, bool swapped) {
  if (!swapped) return plain(type, dims);
  Dims lies = dims;
  std::swap(lies[lies.size() - 1], lies[lies.size() - 2]);
  Dims strides = row_major_strides(lies);
  std::swap(strides[strides.size() - 1], strides[strides.size() - 2]);
  return Desc(dims, type, strides);
}

}  // namespace mlopt::cpu
