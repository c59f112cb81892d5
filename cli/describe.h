#pragma once
#include "cli/command.h"
#include "core/ir/model.h"
#include "core/tensor/datum.h"

namespace mlopt::cli {

/// What was computed over all elements of a tensor, in pieces, so that a large one is never converted as a whole.
struct TensorStatistics {
  double low = 0, high = 0, mean = 0;  ///< of finite elements; 0 when there is none
  int64_t zeros = 0, nonfinite = 0;
};
/// Numbers or bool: what has a range.
bool has_numbers(const Tensor& tensor);
/// Of a tensor that has numbers.
TensorStatistics tensor_statistics(const Tensor& tensor);

/// "float32[1,3]", "sequence of 3", "none".
std::string described_type(const Datum& value);

/// "x float[N,4], mask int64[N]"; "none" for no values.
std::string listed(const std::vector<Value*>& values);
/// "what: where", for an error that does not end the command.
std::string in_words(const Error& error);

/// Adds a table with a row for each constant of the main graph and its bodies, and the key `weights`.
void show_weights(const Model& model, Session& session);

}  // namespace mlopt::cli
