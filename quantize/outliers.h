#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/calib/observe.h"
#include "core/ir/model.h"
#include "quantize/spec.h"

namespace mlopt::quantize {

struct SplitOff {
  std::vector<std::string> products;        ///< names of the products of outliers, which are to stay in float
  std::map<std::string, std::string> left;  ///< layer that was not split -> why
};

/// Takes the input channels that cost most out of each MatMul, Gemm and Conv that is to be quantized: the share
/// `spec.outliers` of them is multiplied in float by columns of their own, gathered from the input, and added to the
/// rest (Dettmers et al. 2022, "LLM.int8()"; Lee et al. 2023, "OWQ"). The model computes what it did. With `data` the
/// channels are weighted by what they are given; formats with activations need data. A layer stays whole where its
/// outliers take less than four times their share of the error away. `planned`: layers may get formats other than the
/// spec's.
SplitOff split_outliers(Model& model, const Spec& spec, const Looking* data, bool planned = false);

}  // namespace mlopt::quantize
