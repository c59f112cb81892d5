#pragma once

namespace mlopt {

/// Elementwise functions of float32; a and b are an Activation's parameters.
enum class Fn {
  kNone,
  kAbs,
  kCeil,
  kClip,  ///< between a and b
  kCube,
  kElu,  ///< a (exp(x) - 1) below 0
  kErf,
  kExp,
  kFloor,
  kGelu,         ///< x (1 + erf(x / sqrt 2)) / 2
  kGeluTanh,     ///< its approximation by tanh
  kHardSigmoid,  ///< a x + b between 0 and 1
  kHardSwish,    ///< x (a x + b between 0 and 1)
  kLeakyRelu,    ///< a x below 0
  kLog,
  kMish,  ///< x tanh(softplus(x))
  kNeg,
  kReciprocal,
  kRelu,
  kRound,  ///< half to even
  kSelu,   ///< b x, below 0 b a (exp(x) - 1)
  kSigmoid,
  kSoftplus,
  kSoftsign,  ///< x / (1 + |x|)
  kSqrt,
  kSquare,
  kSwish,  ///< x sigmoid(a x)
  kTanh,
  kThresholded,  ///< x above a, else 0
};

struct Activation {
  Fn fn = Fn::kNone;
  float a = 0, b = 0;
};

}  // namespace mlopt
