#pragma once
#include <string>
#include <vector>

#include "core/ir/model.h"
#include "core/tensor/datum.h"

namespace mlopt::cli {

/// Is this a folder with input_0.pb or output_0.pb in it?
bool is_test_data(const std::string& folder);

/// The folder's input_K.pb in order, K from 0: of all graph inputs, or of those that are not initializers, as their
/// number says. A file that is missing or left over is an Error{kBadInput} that lists the model's inputs.
struct TestInputs {
  std::vector<std::string> names;  ///< of the graph inputs that the values are for
  std::vector<Datum> values;
};
TestInputs read_test_inputs(const std::string& folder, const Graph& graph);
/// The folder's output_K.pb for as many of the graph's outputs as there are files; throws when there are more or none.
std::vector<Datum> read_test_outputs(const std::string& folder, const Graph& graph);
/// Writes output_K.pb, K from 0; makes the folder.
void write_test_outputs(const std::string& folder, const Graph& graph, const std::vector<Datum>& outputs);

}  // namespace mlopt::cli
