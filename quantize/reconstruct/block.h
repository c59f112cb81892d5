#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/exec/runner.h"
#include "core/ir/infer.h"
#include "core/ir/model.h"
#include "quantize/reconstruct/block_data.h"
#include "quantize/reconstruct/soft_weight.h"

namespace mlopt::quantize {

/// A part of a quantized model with one output, and what is learned of it.
struct Block {
  Model part;                            ///< with its weights as they were, and FakeQuantize around activations
  std::vector<SoftWeight*> weights;      ///< by their names in `part`
  std::vector<std::string> scales = {};  ///< initializers of `part`: logarithms of scales of activations
};

/// Learns rounding and scales together, so that the output comes near the data's targets (Li et al. 2021, "BRECQ:
/// Pushing the Limit of Post-Training Quantization by Block Reconstruction"). Weights get the codes that were learned,
/// unless their error is not below that of the codes that they have. Gives the logarithms of scales that moved, by
/// name. Throws Error as training does.
std::map<std::string, Tensor> learn_block(const Block& block, const BlockData& data, const Runner& runner,
                                          TypeRule types);

}  // namespace mlopt::quantize
