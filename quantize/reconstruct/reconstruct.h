#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/calib/observe.h"
#include "core/ir/infer.h"
#include "core/ir/model.h"
#include "quantize/reconstruct/soft_weight.h"

namespace mlopt::quantize {

/// What was learned besides the codes of weights.
struct Reconstructed {
  std::vector<std::string> weights;         ///< names of those that a block learned
  std::map<std::string, Tensor> scales;     ///< initializers of `student` that hold logarithms of scales, which moved
  std::map<std::string, std::string> left;  ///< weight that was not learned -> why
  int64_t blocks = 0;
};

/// Takes the blocks of a model one after the other, residual blocks and those of transformers or single layers (see
/// segments()), and learns for each the codes of all its weights together, and of the scales in `logs` those that only
/// this block reads, so that its output comes near the original's; what a block is given is what the blocks before it
/// make of the data in codes. `student` is the original with FakeQuantize around activations, or as it is; its weights
/// are left in codes.
Reconstructed reconstruct(const Model& original, Model& student, std::vector<SoftWeight>& weights,
                          const std::vector<std::string>& logs, const Looking& data, TypeRule types);

}  // namespace mlopt::quantize
