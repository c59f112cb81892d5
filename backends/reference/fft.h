#pragma once
#include <complex>
#include <vector>

namespace mlopt::reference {

/// Discrete Fourier transforms of one length, any length from 1. Sums over e^(-2 pi i jk / n), or e^(+2 pi i jk / n)
/// when `inverse`; nothing is divided by n. T is float or double: the type in which the sums are computed.
template <class T>
class FourierTransform {
 public:
  FourierTransform(size_t length, bool inverse);

  /// Transforms `x`, of the length given, in place. May be called from several threads.
  void operator()(std::vector<std::complex<T>>& x) const;

 private:
  using Signal = std::vector<std::complex<T>>;
  void split(const std::complex<T>* x, size_t n, std::complex<T>* out, size_t step, std::complex<T>* scratch) const;

  size_t length_;
  Signal roots_;                             ///< e^(+-2 pi i k / length)
  std::vector<std::complex<double>> chirp_;  ///< of lengths with a large prime factor, see convolve()
};

extern template class FourierTransform<float>;
extern template class FourierTransform<double>;

}  // namespace mlopt::reference
