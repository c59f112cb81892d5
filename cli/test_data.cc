#include "cli/test_data.h"

#include <fmt/core.h>

#include <filesystem>

#include "cli/describe.h"
#include "core/base/error.h"
#include "core/onnx/io.h"

namespace mlopt::cli {
namespace {

std::string file_name(const std::string& folder, const char* kind, size_t k) {
  return fmt::format("{}/{}_{}.pb", folder, kind, k);
}

bool has_file(const std::string& folder, const char* kind, size_t k) {
  std::error_code ignored;  // a name that is too long is that of no file
  return std::filesystem::exists(file_name(folder, kind, k), ignored);
}

size_t count_files(const std::string& folder, const char* kind) {
  size_t count = 0;
  while (has_file(folder, kind, count)) ++count;
  return count;
}

}  // namespace

bool is_test_data(const std::string& folder) { return has_file(folder, "input", 0) || has_file(folder, "output", 0); }

TestInputs read_test_inputs(const std::string& folder, const Graph& graph) {
  std::vector<Value*> wanted;
  for (Value* input : graph.inputs()) {
    if (!input->is_initializer()) wanted.push_back(input);
  }
  const size_t files = count_files(folder, "input");
  if (files > wanted.size() && files <= graph.inputs().size()) wanted = graph.inputs();
  if (files > wanted.size() || files < wanted.size()) {
    input_error(fmt::format("the folder has {} input files, the model {} inputs", files, wanted.size()), folder,
                "the model's inputs are: " + listed(wanted));
  }
  TestInputs inputs;
  for (size_t k = 0; k < files; ++k) {
    inputs.names.push_back(wanted[k]->name);
    inputs.values.push_back(read_datum(file_name(folder, "input", k), wanted[k]->type));
  }
  return inputs;
}

std::vector<Datum> read_test_outputs(const std::string& folder, const Graph& graph) {
  const size_t files = count_files(folder, "output");
  if (files == 0 || files > graph.outputs().size()) {
    input_error(fmt::format("the folder has {} output files, the model {} outputs", files, graph.outputs().size()),
                folder, "--no-check runs without comparing; the model's outputs are: " + listed(graph.outputs()));
  }
  std::vector<Datum> outputs;
  for (size_t k = 0; k < files; ++k) {
    outputs.push_back(read_datum(file_name(folder, "output", k), graph.outputs()[k]->type));
  }
  return outputs;
}

void write_test_outputs(const std::string& folder, const Graph& graph, const std::vector<Datum>& outputs) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure)
    input_error(fmt::format("cannot make the folder ({})", failure.message()), folder,
                "check that the folder above it exists and is writable");
  for (size_t k = 0; k < outputs.size(); ++k) {
    const Value& value = *graph.outputs()[k];
    write_datum(outputs[k], value.type, value.name, file_name(folder, "output", k));
  }
}

}  // namespace mlopt::cli
