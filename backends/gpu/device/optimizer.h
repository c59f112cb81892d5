#pragma once
#include "backends/gpu/device/launch.h"

namespace mlopt::gpu {

enum class Optimizer { kSgd, kAdam, kAdamW, kLamb };

/// One update of a parameter and its moments, with a gradient that is multiplied by *scale. Outputs may be the inputs.
struct UpdateArgs {
  static constexpr int kParts = 64;
  Elem type;
  Optimizer rule;
  bool nesterov;
  float momentum;  ///< of kSgd; 0: there is no moment
  float beta1, beta2, log_beta1, log_beta2, epsilon, decay;
  int64_t count;
  const float *rate, *step, *scale;  ///< of this update, which is number *step from 1
  const void *param, *grad, *moments[2];
  void *param_out, *moments_out[2];
  float* sums;  ///< of kLamb: room for 2 * kParts numbers
};
Status update(Queue& queue, const UpdateArgs& args);

/// Sets *bad to 1 where a number of any of the parts is not finite; else it stays.
struct FiniteArgs {
  static constexpr int kParts = 128;
  struct Part {
    Elem type;
    int64_t count;
    const void* values;
  };
  int count;
  Part parts[kParts];
  int32_t* bad;
};
Status find_infinite(Queue& queue, const FiniteArgs& args);

}  // namespace mlopt::gpu
