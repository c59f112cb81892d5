#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/expected.h"
#include "core/ir/view.h"

namespace mlopt::cpu {

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

/// The range, between numbers, that an activation cuts numbers off to (NaN stays), where that is all it does: infinite
/// without a function.
struct Limits {
  float low, high;
};
std::optional<Limits> limits_of(const Activation& act);

/// out[i] = fn(in[i]) on the threads of the plan; in and out may be the same.
void apply(const Activation& act, const float* in, float* out, int64_t count);
/// The same on the calling thread alone.
void apply_here(const Activation& act, const float* in, float* out, int64_t count);

/// The function of an operator, `params` in the order of com.microsoft.FusedConv's activation_params (missing ones have
/// the operator's defaults).
Expected<Activation> activation_of(const std::string& op, const std::vector<float>& params = {});

/// What an operator of one input computes, its parameters read from its attributes and constant inputs.
Expected<Activation> activation_of(const NodeView& view);

/// The activation that a fused operator names in its attributes `activation` and `activation_params` (or
/// `activation_alpha` and `activation_beta`); kNone when it has none.
Expected<Activation> fused_activation(const NodeView& view);

}  // namespace mlopt::cpu
