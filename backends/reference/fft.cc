#include "backends/reference/fft.h"

#include <bit>
#include <numbers>

namespace mlopt::reference {
namespace {

// A prime factor p costs n p operations; beyond this a convolution is faster.
constexpr size_t kLargestFactor = 32;

std::complex<double> root_of_unity(size_t numerator, size_t denominator, double sign) {
  return std::polar(1.0,
                    sign * 2 * std::numbers::pi * static_cast<double>(numerator) / static_cast<double>(denominator));
}

size_t smallest_factor(size_t n) {
  for (size_t p = 2; p * p <= n; ++p)
    if (n % p == 0) return p;
  return n;
}

size_t largest_factor(size_t n) {
  size_t largest = 1;
  for (; n > 1; n /= largest) largest = smallest_factor(n);
  return largest;
}

/// The transform through jk = (j^2 + k^2 - (k - j)^2) / 2, which makes it a convolution with the conjugate of
/// chirp[j] = e^(+-i pi j^2 / n), done in a power of two (Bluestein 1970).
std::vector<std::complex<double>> convolve(const std::vector<std::complex<double>>& x,
                                           const std::vector<std::complex<double>>& chirp) {
  const size_t n = x.size(), padded = std::bit_ceil(2 * n);
  std::vector<std::complex<double>> signal(padded), image(padded), y(n);
  for (size_t i = 0; i < n; ++i) {
    signal[i] = x[i] * chirp[i];
    image[i] = image[(padded - i) % padded] = std::conj(chirp[i]);
  }
  const FourierTransform<double> forth(padded, false), back(padded, true);
  forth(signal);
  forth(image);
  for (size_t i = 0; i < padded; ++i) signal[i] *= image[i] / static_cast<double>(padded);
  back(signal);
  for (size_t i = 0; i < n; ++i) y[i] = signal[i] * chirp[i];
  return y;
}

}  // namespace

template <class T>
FourierTransform<T>::FourierTransform(size_t length, bool inverse) : length_(length) {
  const double sign = inverse ? 1 : -1;
  if (largest_factor(length) > kLargestFactor) {
    for (size_t i = 0; i < length; ++i) chirp_.push_back(root_of_unity(i * i % (2 * length), 2 * length, sign));
  } else {
    for (size_t i = 0; i < length; ++i) roots_.push_back(static_cast<std::complex<T>>(root_of_unity(i, length, sign)));
  }
}

template <class T>
void FourierTransform<T>::operator()(Signal& x) const {
  if (!chirp_.empty()) {
    const auto y = convolve({x.begin(), x.end()}, chirp_);
    for (size_t i = 0; i < length_; ++i) x[i] = static_cast<std::complex<T>>(y[i]);
    return;
  }
  const Signal copy = x;
  Signal scratch(length_);
  split(copy.data(), length_, x.data(), 1, scratch.data());
}

/// Decimation in frequency by the smallest factor p: outputs q, q + p, ... are the transform of a signal p times
/// shorter. Writes out[0], out[step], ...; `scratch` holds n elements.
template <class T>
void FourierTransform<T>::split(const std::complex<T>* x, size_t n, std::complex<T>* out, size_t step,
                                std::complex<T>* scratch) const {
  if (n == 1) {
    *out = *x;
    return;
  }
  const size_t p = smallest_factor(n), m = n / p;
  for (size_t q = 0; q < p; ++q) {
    for (size_t j = 0; j < m; ++j) {
      std::complex<T> sum = x[j];
      for (size_t r = 1; r < p; ++r) sum += x[j + r * m] * roots_[r * q % p * (length_ / p)];
      scratch[j] = sum * roots_[j * q * (length_ / n)];  // NOLINT(clang-analyzer-core.DivideZero): n divides length_
    }
    split(scratch, m, out + q * step, step * p, scratch + m);
  }
}

template class FourierTransform<float>;
template class FourierTransform<double>;

}  // namespace mlopt::reference
