#pragma once
#include <map>
#include <mutex>

#include "core/ir/model.h"

namespace mlopt::gpu {

/// --precision fp16 and bf16: what the graphs of all plans of one model are rewritten with.
class HalfPrecision {
 public:
  /// `type` is float16 or bfloat16; the model's weights are rounded once, whatever plans read them.
  HalfPrecision(const Model& model, DType type);

  /// Everything that kernels here run in half floats does so, sums in float32 throughout; inputs and outputs stay
  /// float32, with Casts at the edges. To be run when operators are joined: what is joined is rounded once.
  void apply(Model& model);

 private:
  Tensor rounded(const Tensor& constant);

  struct Kept {
    Tensor source;  ///< so that nothing else comes to lie at its address
    Tensor half;
  };
  DType type_;
  std::mutex mutex_;
  std::map<const std::byte*, Kept> weights_;
};

}  // namespace mlopt::gpu
