#include "cli/test_data.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>

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

/// What `count` files hold, for the `wanted` ones.
TestValues read_values(const std::string& folder, const char* kind, size_t count, const std::vector<Value*>& wanted,
                       bool must_match) {
  std::map<size_t, Datum> placed;
  for (size_t k = 0; k < count; ++k) {
    const std::string file = file_name(folder, kind, k);
    std::string name;
    Datum value = read_datum(file, wanted[k]->type, &name);
    const auto named = std::find_if(wanted.begin(), wanted.end(), [&](const Value* v) { return v->name == name; });
    if (must_match && !name.empty() && named == wanted.end())
      input_error(fmt::format("the tensor is called '{}', as no {} of the model is", name, kind), file,
                  fmt::format("the model's {}s are: {}", kind, listed(wanted)));
    const size_t place = named == wanted.end() ? k : static_cast<size_t>(named - wanted.begin());
    if (!placed.emplace(place, std::move(value)).second)
      input_error(fmt::format("two files are for the {} '{}'", kind, wanted[place]->name), file,
                  "name each tensor after its own, or none");
  }
  TestValues values;
  for (auto& [place, value] : placed) {
    values.names.push_back(wanted[place]->name);
    values.values.push_back(std::move(value));
  }
  return values;
}

}  // namespace

bool is_test_data(const std::string& folder) { return has_file(folder, "input", 0) || has_file(folder, "output", 0); }

TestValues read_test_inputs(const std::string& folder, const Graph& graph) {
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
  return read_values(folder, "input", files, wanted, true);
}

TestValues read_test_outputs(const std::string& folder, const Graph& graph) {
  const size_t files = count_files(folder, "output");
  if (files == 0 || files > graph.outputs().size()) {
    input_error(fmt::format("the folder has {} output files, the model {} outputs", files, graph.outputs().size()),
                folder, "--no-check runs without comparing; the model's outputs are: " + listed(graph.outputs()));
  }
  return read_values(folder, "output", files, graph.outputs(), false);
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
