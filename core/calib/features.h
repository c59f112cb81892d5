#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "core/calib/matrix.h"
#include "core/calib/weights.h"
#include "core/tensor/tensor.h"

namespace mlopt {

/// Which input of its readers the weight is multiplied by.
int data_operand(const Weight& weight);

/// Is what `reader` is given turned before it is multiplied by the weight?
bool turns_data(const Weight& weight, const Node& reader);

/// Why it cannot be said what the columns of the weight are multiplied by; empty where it can.
std::string features_problem(const Weight& weight);

/// What the columns of the weight are multiplied by when `reader` is given `input`: for each of its groups matrices
/// with a row for each place that an output is made at (a token, a pixel), some hundred at a time; padding is 0.
void each_features(const Weight& weight, const Node& reader, const Tensor& input,
                   const std::function<void(int64_t group, const Matrix& rows)>& see);

}  // namespace mlopt
