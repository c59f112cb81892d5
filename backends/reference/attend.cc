#include "backends/reference/attend.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/gemm.h"
#include "core/base/parallel.h"

namespace mlopt::reference {

template <class T>
void softmax_row(T* row, int64_t n, double extra) {
  T largest = static_cast<T>(extra);
  for (int64_t i = 0; i < n; ++i) largest = row[i] > largest || row[i] != row[i] ? row[i] : largest;
  double sum = std::isinf(extra) ? 0 : std::exp(extra - static_cast<double>(largest));
  for (int64_t i = 0; i < n; ++i) {
    row[i] = std::exp(row[i] - largest);
    sum += static_cast<double>(row[i]);
  }
  for (int64_t i = 0; i < n; ++i) row[i] = static_cast<T>(static_cast<double>(row[i]) / sum);
}

template <class T>
void Attend<T>::run_head(int64_t b, int64_t h) const {
  constexpr T kNever = -std::numeric_limits<T>::infinity();
  const int64_t shared = h / (heads / kv_heads), count = queries * keys;
  std::vector<T> scores(static_cast<size_t>(count)), added(bias ? scores.size() : 0, T{0});
  const auto capture = [&](Stage which) {
    if (captured && stage == which) std::copy(scores.begin(), scores.end(), captured + (b * heads + h) * count);
  };
  gemm<T>(queries, keys, size, {q.of(b, h), q.row, 1}, {k.of(b, shared), 1, k.row}, scores.data(), keys);
  for (T& s : scores) s *= static_cast<T>(scale);
  capture(Stage::kScores);
  const T cap = static_cast<T>(softcap);
  for (size_t i = 0; i < scores.size() && softcap > 0; ++i) scores[i] = cap * std::tanh(scores[i] / cap);
  capture(Stage::kCapped);
  if (bias) bias(b, h, added.data());
  for (size_t i = 0; i < added.size(); ++i) scores[i] += added[i];
  capture(Stage::kBiased);
  for (int64_t i = 0; i < queries; ++i) {
    T* row = scores.data() + i * keys;
    const auto first = added.begin() + i * (bias ? keys : 0);
    const bool masked = bias && hidden_are_zeros && std::all_of(first, first + keys, [](T v) { return v == kNever; });
    if (masked)
      std::fill_n(row, keys, T{0});
    else
      softmax_row<T>(row, keys, sink ? sink(h) : -std::numeric_limits<double>::infinity());
  }
  capture(Stage::kWeights);
  gemm<T>(queries, value_size, keys, rows_of<T>(scores.data(), keys), {v.of(b, shared), v.row, 1}, y.of(b, h), y.row);
}

template <class T>
void Attend<T>::run() const {
  const int64_t all = batch * heads;
  const int64_t grain = all >= max_threads() ? grain_of(queries * keys * (size + value_size + 16)) : all;
  parallel_for(all, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) run_head(i / heads, i % heads);
  });
}

template struct Attend<float>;
template struct Attend<double>;
template void softmax_row<float>(float*, int64_t, double);
template void softmax_row<double>(double*, int64_t, double);

}  // namespace mlopt::reference
