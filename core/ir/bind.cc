#include "core/ir/bind.h"

#include <optional>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt {
namespace {

void forget(Graph& graph) {
  for (Value* value : graph.values()) {
    const bool inferred = value->producer || (graph.owner && value->is_input && !value->declared);
    if (inferred) value->type.dims.reset();
    value->symbolic.reset();
  }
  for (Node* node : graph.nodes()) {
    for (Graph* body : node->bodies()) forget(*body);
  }
}

bool is_free(const Value& input) { return !input.is_initializer() && input.type.is_tensor() && input.type.dims; }

Dim with_sizes(const Dim& dim, const std::map<std::string, Dim>& sizes) {
  const auto name = dim.symbol_name();
  const auto size = name ? sizes.find(*name) : sizes.end();
  return size == sizes.end() ? dim : size->second;
}

/// With what the sizes are in the end where one is given by the name of another.
std::map<std::string, Dim> resolved(std::map<std::string, Dim> sizes) {
  for (auto& [name, dim] : sizes)
    for (size_t steps = 0; dim.symbol_name() && sizes.contains(*dim.symbol_name()); ++steps) {
      if (steps > sizes.size()) usage_error("the size of '" + name + "' is given by itself");
      dim = sizes.at(*dim.symbol_name());
    }
  return sizes;
}

/// What was declared of an output stays, but for what is a number now.
void declare(Value& output, const std::optional<SymDims>& before, const std::map<std::string, Dim>& sizes) {
  if (!before) return;
  const std::optional<SymDims> found = std::exchange(output.type.dims, before);
  for (size_t i = 0; i < before->size(); ++i) {
    Dim& dim = (*output.type.dims)[i];
    const auto number = found && found->size() == before->size() ? (*found)[i].value() : std::nullopt;
    dim = number ? Dim(*number) : with_sizes(dim, sizes);
  }
}

}  // namespace

void bind_input_shapes(Model& model, const std::vector<Dims>& shapes, TypeRule standard) {
  forget(*model.graph);
  size_t next = 0;
  for (Value* input : model.graph->inputs()) {
    if (input->is_initializer()) continue;
    if (next == shapes.size()) internal_error("bind_input_shapes: fewer shapes than inputs");
    const Dims& dims = shapes[next++];
    if (input->type.is_tensor()) input->type.dims = SymDims(dims.begin(), dims.end());
  }
  infer(model, standard);
}

void fix_dimensions(Model& model, const std::map<std::string, Dim>& sizes, int64_t batch, TypeRule standard) {
  Graph& graph = *model.graph;
  std::map<std::string, Dim> all = sizes;
  std::set<std::string> names;
  bool found_batch = false;
  for (const Value* input : graph.inputs()) {
    if (!is_free(*input)) continue;
    const SymDims& dims = *input->type.dims;
    for (size_t i = 0; i < dims.size(); ++i) {
      const auto name = dims[i].symbol_name();
      if (name) names.insert(*name);
      if (i > 0 || batch == 0 || dims[i].value()) continue;
      found_batch = true;
      if (name) all.try_emplace(*name, batch);
    }
  }
  const std::vector<std::string> listed(names.begin(), names.end());
  for (const auto& [name, size] : sizes)
    for (const std::string& used : {name, size.symbol_name().value_or(name)})
      if (!names.contains(used))
        usage_error("no input has a free dimension '" + used + "'", {}, suggestion(used, listed));
  all = resolved(std::move(all));
  if (batch > 0 && !found_batch) usage_error("no input has a free first dimension");

  std::vector<std::optional<SymDims>> declared;
  for (const Value* output : graph.outputs()) declared.push_back(output->type.dims);
  forget(graph);
  for (Value* input : graph.inputs()) {
    if (!is_free(*input)) continue;
    SymDims& dims = *input->type.dims;
    for (Dim& dim : dims) dim = with_sizes(dim, all);
    if (batch > 0 && !dims.empty() && !dims[0].value()) dims[0] = batch;
  }
  infer(model, standard, false);
  for (size_t i = 0; i < declared.size(); ++i) declare(*graph.outputs()[i], declared[i], all);
}

void free_dimension(Model& model, Value& input, size_t axis, const std::string& name, TypeRule standard) {
  (*input.type.dims)[axis] = Dim::symbol(name);
  forget(*model.graph);
  infer(model, standard, false);
}

}  // namespace mlopt
