#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

namespace mlopt::reference {

/// The largest of `length` elements that are `step` apart; NaN wins; minus infinity for none.
template <class T>
T line_maximum(const T* x, int64_t length, int64_t step) {
  T most = -std::numeric_limits<T>::infinity();
  for (int64_t i = 0; i < length; ++i)
    if (x[i * step] > most || x[i * step] != x[i * step]) most = x[i * step];
  return most;
}

/// Softmax of a line; x and y may be the same. A line of minus infinities gives NaN.
template <class T>
void softmax_line(const T* x, T* y, int64_t length, int64_t step) {
  const T most = line_maximum(x, length, step);
  double sum = 0;
  for (int64_t i = 0; i < length; ++i) {
    const T power = std::exp(x[i * step] - most);
    y[i * step] = power;
    sum += static_cast<double>(power);
  }
  for (int64_t i = 0; i < length; ++i) y[i * step] = static_cast<T>(static_cast<double>(y[i * step]) / sum);
}

template <class T>
void log_softmax_line(const T* x, T* y, int64_t length, int64_t step) {
  const T most = line_maximum(x, length, step);
  double sum = 0;
  for (int64_t i = 0; i < length; ++i) sum += static_cast<double>(std::exp(x[i * step] - most));
  const double log_sum = std::log(sum);
  for (int64_t i = 0; i < length; ++i) y[i * step] = static_cast<T>(static_cast<double>(x[i * step] - most) - log_sum);
}

}  // namespace mlopt::reference
