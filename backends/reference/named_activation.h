#pragma once
#include <cmath>
#include <optional>
#include <string_view>

#include "backends/reference/activation.h"
#include "core/exec/kernel.h"

namespace mlopt::reference {

/// An elementwise function that an attribute names: those of RNN, LSTM and GRU and of fused operators.
struct Activation {
  enum class Kind {
    kIdentity,
    kRelu,
    kTanh,
    kSigmoid,
    kAffine,
    kLeakyRelu,
    kThresholdedRelu,
    kScaledTanh,
    kHardSigmoid,
    kElu,
    kSoftsign,
    kSoftplus,
    kClip,
    kSwish,
    kHardSwish,
    kGelu,
    kGeluTanh,
  };
  Kind kind = Kind::kIdentity;
  double alpha = 0, beta = 0;
  bool takes_alpha = false, takes_beta = false;

  template <class T>
  T operator()(T x) const;
};

/// By its ONNX name, in any case, with its default alpha and beta; nothing for an unknown name.
std::optional<Activation> find_activation(std::string_view name);

/// The one of a fused operator's attributes `activation` and `activation_params`; nothing when it has none. Throws
/// Error for an unknown name.
std::optional<Activation> fused_activation(const Call& call);

template <class T>
T Activation::operator()(T x) const {
  const T a = static_cast<T>(alpha), b = static_cast<T>(beta);
  switch (kind) {
    case Kind::kIdentity:
      return x;
    case Kind::kRelu:
      return x < 0 ? T{0} : x;
    case Kind::kTanh:
      return std::tanh(x);
    case Kind::kSigmoid:
      return sigmoid(x);
    case Kind::kAffine:
      return a * x + b;
    case Kind::kLeakyRelu:
      return x < 0 ? a * x : x;
    case Kind::kThresholdedRelu:
      return x < a ? T{0} : x;
    case Kind::kScaledTanh:
      return a * std::tanh(b * x);
    case Kind::kHardSigmoid:
      return std::fmin(std::fmax(a * x + b, T{0}), T{1});
    case Kind::kElu:
      return x < 0 ? a * std::expm1(x) : x;
    case Kind::kSoftsign:
      return x / (1 + std::abs(x));
    case Kind::kSoftplus:
      return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
    case Kind::kClip:
      return x < a ? a : x > b ? b : x;
    case Kind::kSwish:
      return x * sigmoid(a * x);
    case Kind::kHardSwish:
      return x * std::fmin(std::fmax(a * x + b, T{0}), T{1});
    case Kind::kGelu:
      return gelu_exact(x);
    case Kind::kGeluTanh:
      return gelu_tanh(x);
  }
  return x;
}

}  // namespace mlopt::reference
