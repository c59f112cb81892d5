#include "distill/teacher.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/ir/instantiate.h"
#include "core/onnx/tools.h"
#include "core/rewrite/end_with.h"
#include "graphopt/pipelines.h"

namespace mlopt::distill {
namespace {

std::vector<Value*> fed_inputs(const Graph& graph) {
  std::vector<Value*> fed;
  for (Value* input : graph.inputs())
    if (!input->is_initializer()) fed.push_back(input);
  return fed;
}

std::string listed(const std::vector<Value*>& inputs) {
  std::string all;
  for (const Value* v : inputs) all += fmt::format("{}'{}' {}", all.empty() ? "" : ", ", v->name, to_string(v->type));
  return all;
}

/// Can a value of that type be bound to these dims?
bool takes(const Type& type, const Type& given, const Dims& dims) {
  const bool same = type.dtype == given.dtype || (is_float(type.dtype) && is_float(given.dtype));
  if (!type.is_tensor() || !same) return false;
  if (!type.dims) return true;
  if (type.dims->size() != dims.size()) return false;
  for (size_t i = 0; i < dims.size(); ++i)
    if (const auto fixed = (*type.dims)[i].value(); fixed && *fixed != dims[i]) return false;
  return true;
}

/// The inputs of the student by name, or in their order where no name is the same.
std::vector<size_t> match_inputs(const Model& teacher, const Model& student, const std::vector<Dims>& dims) {
  const std::vector<Value*> taken = fed_inputs(*teacher.graph), given = fed_inputs(*student.graph);
  const auto named = [&](const Value* v) {
    return std::find_if(given.begin(), given.end(), [&](const Value* g) { return g->name == v->name; }) - given.begin();
  };
  const bool by_name = std::any_of(taken.begin(), taken.end(),
                                   [&](const Value* v) { return static_cast<size_t>(named(v)) < given.size(); });
  std::vector<size_t> found;
  for (size_t i = 0; i < taken.size(); ++i) {
    const size_t k = by_name ? static_cast<size_t>(named(taken[i])) : i;
    if (k >= given.size() || !takes(taken[i]->type, given[k]->type, dims.at(k)))
      input_error(fmt::format("the teacher takes {}, and the student's batches are {}", listed(taken), listed(given)),
                  teacher.path, "teacher and student take the same inputs; free a fixed first dimension");
    found.push_back(k);
  }
  return found;
}

/// One graph has one opset.
Model in_opset_of(const Model& teacher, const Model& student) {
  try {
    return convert_opset(teacher, student.opset());
  } catch (const Error& error) {
    unsupported_error(error.message, error.where,
                      fmt::format("give teacher and student one opset: mlopt convert {} --opset {}",
                                  teacher.opset() > student.opset() ? student.path : teacher.path,
                                  std::max(teacher.opset(), student.opset())));
  }
}

/// A teacher is asked what it knows: its Dropouts do what they do at inference.
void stop_dropping(Graph& graph) {
  constexpr int kTrains = 2;
  for (Node* node : all_nodes(graph)) {
    if (!node->is("Dropout")) continue;
    if (node->input(kTrains)) node->graph()->set_input(node, kTrains, nullptr);
    if (node->attr("is_test")) node->set_attr("is_test", int64_t{1});
  }
}

}  // namespace

Teacher make_teacher(const Model& model, const Model& student, const train::BatchInputs& inputs, TypeRule types) {
  Teacher teacher;
  teacher.model = in_opset_of(model, student);
  inline_functions(teacher.model);
  stop_dropping(*teacher.model.graph);
  Model bound = clone(student);
  bind_batch(bound, inputs, types);
  teacher.inputs = match_inputs(teacher.model, bound, inputs.dims);
  train::BatchInputs own;
  own.settle = inputs.settle;
  for (const size_t i : teacher.inputs) {
    if (const auto fixed = inputs.fixed.find(i); fixed != inputs.fixed.end())
      own.fixed.emplace(own.dims.size(), fixed->second);
    own.dims.push_back(inputs.dims[i]);
  }
  bind_batch(teacher.model, own, types);
  return teacher;
}

void tap(Teacher& teacher, const PassContext& context) {
  end_with(teacher.model, teacher.taps);
  graphopt::prepare(teacher.model, context);
}

std::vector<Value*> graft(Model& student, const Teacher& teacher) {
  Graph& graph = *student.graph;
  for (const OpsetImport& import : teacher.model.opsets)
    if (student.opset(import.domain) == 0) student.set_opset(import.domain, import.version);
  const std::vector<Value*> given = fed_inputs(graph);
  Function body;
  body.name = "teacher";
  body.body = clone(*teacher.model.graph);
  std::vector<Value*> inputs;
  for (size_t i = 0; i < teacher.inputs.size(); ++i) {
    Value* input = given.at(teacher.inputs[i]);
    const DType type = body.body->inputs().at(i)->type.dtype;
    if (input->type.dtype != type)
      input = graph.add_op("Cast", {input}, {{"to", static_cast<int64_t>(type), {}}})->output(0);
    inputs.push_back(input);
  }
  Node* call = graph.add_op("Teacher", inputs, {}, nullptr, "teacher", static_cast<int>(teacher.taps.size()), "mlopt");
  call->name = "teacher";
  std::vector<std::string> names;
  for (const Value* v : call->outputs()) names.push_back(v->name);
  FreshNames fresh(graph);
  instantiate(call, body, fresh);
  std::vector<Value*> taps;
  for (const std::string& name : names) taps.push_back(graph.find(name));
  return taps;
}

}  // namespace mlopt::distill
