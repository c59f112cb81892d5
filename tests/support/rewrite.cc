#include "tests/support/rewrite.h"

#include <fmt/core.h>

#include <cctype>

#include "backends/reference/backend.h"
#include "core/base/text.h"
#include "core/calib/model_inputs.h"
#include "core/data/random.h"
#include "core/ir/dump.h"
#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "core/onnx/io.h"
#include "core/onnx/tools.h"
#include "core/tensor/compare.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::test {
namespace {

std::vector<std::string> interface(const Model& model) {
  std::vector<std::string> all;
  for (const Value* v : model.graph->inputs()) all.push_back(v->name + ": " + to_string(v->type));
  for (const Value* v : model.graph->outputs()) all.push_back(v->name + ": " + to_string(v->type));
  return all;
}

std::vector<Datum> run_on(const Model& model, const std::vector<Datum>& inputs) {
  Model copy = clone(model);
  inline_functions(copy);
  return reference_backend()->compile(copy, {})->run(inputs);
}

void require_same_output(const Datum& actual, const Datum& expected, double tolerance) {
  REQUIRE(actual.kind() == expected.kind());
  if (expected.is_tensor()) return require_close(actual.tensor(), expected.tensor(), tolerance);
  REQUIRE(actual.items().size() == expected.items().size());
  for (size_t i = 0; i < expected.items().size(); ++i)
    require_same_output(actual.items()[i], expected.items()[i], tolerance);
}

}  // namespace

PassContext pass_context() {
  static const std::unique_ptr<Backend> judge = reference_backend();
  PassContext context;
  context.judge = judge.get();
  context.standard_types = standard_types;
  return context;
}

Model fixture(const std::string& graph, int64_t opset) {
  Model model = parse_text(fmt::format(R"(<ir_version: 10, opset_import: ["" : {}, "local" : 1]> {})", opset, graph));
  const std::vector<Value*> inputs = model.graph->inputs();
  for (size_t i = inputs.size(); i-- > 0;) {
    Value* v = inputs[i];
    if (!std::isupper(static_cast<unsigned char>(v->name[0]))) continue;
    v->constant = uniform(v->type.static_dims().value(), 0.5, 1.5, v->type.dtype, i + 1);
    model.graph->remove_input(static_cast<int>(i));
  }
  return model;
}

std::string operators(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node* node : graph.nodes()) {
    names.push_back(node->op);
    for (const Graph* body : node->bodies()) names.back() += "[" + operators(*body) + "]";
  }
  return join(names, " ");
}

void require_same_model(const Model& source, const Model& result, double tolerance) {
  INFO(dump(*result.graph));
  REQUIRE(verify(result) == std::vector<std::string>{});
  REQUIRE(interface(result) == interface(source));
  const auto data = random_dataset(model_inputs(source), {.count = 2, .seed = 5, .distinct = true});
  for (int64_t i = 0; i < data->size(); ++i) {
    const std::vector<Datum> inputs = data->batch(i, 1).inputs;
    const std::vector<Datum> expected = run_on(source, inputs), actual = run_on(result, inputs);
    for (size_t k = 0; k < expected.size(); ++k) require_same_output(actual.at(k), expected[k], tolerance);
  }
}

namespace {

/// pass_context() for a target, whose operators the model imports.
PassContext context_for(Target target, Model& model) {
  PassContext context = pass_context();
  context.target = target;
  if (target == Target::kOrt) model.set_opset("com.microsoft", 1);
  infer(model, standard_types);
  return context;
}

}  // namespace

std::string rewritten(const Pass& pass, const Model& source, double tolerance, Target target) {
  Model result = clone(source);
  const PassContext context = context_for(target, result);
  const PassTally tally = run_pass(result, pass, context);
  INFO(dump(*result.graph));
  for (const auto& [reason, times] : tally.declined) UNSCOPED_INFO("declined: " << reason);
  REQUIRE(tally.applied > 0);
  require_same_model(source, result, tolerance);
  return operators(*result.graph);
}

std::string rewritten(const Pass& pass, const std::string& graph, int64_t opset, double tolerance, Target target) {
  return rewritten(pass, fixture(graph, opset), tolerance, target);
}

std::string declined(const Pass& pass, const std::string& graph, int64_t opset, Target target) {
  Model model = fixture(graph, opset);
  const PassContext context = context_for(target, model);
  const std::string before = dump(*model.graph);
  const PassTally tally = run_pass(model, pass, context);
  REQUIRE(tally.applied == 0);
  REQUIRE(dump(*model.graph) == before);
  std::vector<std::string> reasons;
  for (const auto& [reason, times] : tally.declined) reasons.push_back(reason);
  return join(reasons, "; ");
}

}  // namespace mlopt::test
