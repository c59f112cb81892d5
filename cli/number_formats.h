#pragma once
#include <string>
#include <vector>

#include "core/ir/model.h"

namespace mlopt::cli {

/// How a model stores and computes numbers, in words, the common first: "float32 weights", "QDQ, int8 weights per
/// channel", "4-bit weights in blocks of 32 (MatMulNBits)".
std::vector<std::string> number_formats(const Model& model);

}  // namespace mlopt::cli
