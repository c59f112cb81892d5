#pragma once
#include <string>
#include <vector>

#include "core/ir/model.h"
#include "core/tensor/datum.h"

namespace mlopt::cli {

/// Is this a folder with input_0.pb or output_0.pb in it?
bool is_test_data(const std::string& folder);

struct TestValues {
  std::vector<std::string> names;  ///< of the graph inputs or outputs that the values are for, in the graph's order
  std::vector<Datum> values;
};
/// The folder's input_K.pb: of all graph inputs, or of those that are not initializers, as their number says. Each is
/// for the input that its tensor is named after, or for the K-th from 0 where it has no name. A file that is missing,
/// left over or named after no input is an Error{kBadInput} that lists the model's inputs.
TestValues read_test_inputs(const std::string& folder, const Graph& graph);
/// The folder's output_K.pb, matched in the same way; a name of no output says nothing. Throws when there are more than
/// the graph has outputs, or none.
TestValues read_test_outputs(const std::string& folder, const Graph& graph);
/// Writes output_K.pb, K from 0; makes the folder.
void write_test_outputs(const std::string& folder, const Graph& graph, const std::vector<Datum>& outputs);

}  // namespace mlopt::cli
