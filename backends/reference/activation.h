#pragma once
#include <cmath>

namespace mlopt::reference {

/// Scalar activations that several families share; T is float or double.
template <class T>
T sigmoid(T x) {
  if (x >= 0) return 1 / (1 + std::exp(-x));
  const T power = std::exp(x);  // does not overflow, so that small results keep their digits
  return power / (1 + power);
}

template <class T>
T softplus(T x) {
  return (x > 0 ? x : T{0}) + std::log1p(std::exp(-std::fabs(x)));
}

template <class T>
T gelu_exact(T x) {
  constexpr T kRootHalf = T(0.70710678118654752440);
  return T{0.5} * x * std::erfc(-x * kRootHalf);  // 1 + erf(z) loses its digits where erf is near -1
}

template <class T>
T gelu_tanh(T x) {
  constexpr T kRootTwoByPi = T(0.79788456080286535588);
  return T{0.5} * x * (1 + std::tanh(kRootTwoByPi * (x + T(0.044715) * x * x * x)));
}

}  // namespace mlopt::reference
