#include "core/train/graphs.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>

#include "core/autodiff/grad.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/rewrite/fusion/passes.h"
#include "core/tensor/cast.h"
#include "core/train/average.h"
#include "core/train/batch_norm.h"
#include "core/train/corrections.h"
#include "core/train/masked.h"

namespace mlopt::train {
namespace {

/// Among the first `count`, which the model has by itself.
Value* output_of(const Graph& graph, size_t count, const std::string& name) {
  const std::span outputs = std::span(graph.outputs()).first(count);
  if (name.empty()) return outputs[0];
  const auto found = std::find_if(outputs.begin(), outputs.end(), [&](const Value* v) { return v->name == name; });
  if (found != outputs.end()) return *found;
  std::vector<std::string> names;
  for (const Value* v : outputs) names.push_back(v->name);
  usage_error(fmt::format("the model has no output '{}'", name), "--loss-output", suggestion(name, names));
}

std::string gradient_name(const std::string& parameter) { return parameter + "/gradient"; }

/// A new input that the loss is multiplied by: half floats hold what is passed back from the product.
Value* add_scale(TrainingGraphs& g, const Value& loss, const std::vector<Value*>& parameters) {
  const auto require_f32 = [&](const Value& v) {
    if (v.type.dtype != DType::kF32)
      input_error(fmt::format("--precision fp16 is for models in float32, '{}' is {}", v.name, name(v.type.dtype)),
                  g.gradients.path, "mlopt convert --to fp32");
  };
  require_f32(loss);
  for (const Value* v : parameters) require_f32(*v);
  g.scaled = true;
  return g.gradients.graph->add_input("train/loss-scale", Type::tensor(DType::kF32, Dims{}));
}

/// The gradients of the parameters, of a loss times `scale` (null: 1), go to the state, on top of what is there where
/// they accumulate.
void keep_gradients(TrainingGraphs& g, const std::vector<Value*>& parameters, const std::vector<Value*>& grads,
                    Value* scale, const Recipe& recipe, Builder& build) {
  Graph& graph = *g.gradients.graph;
  Value* inverse = scale ? build.op("Reciprocal", {scale}) : nullptr;
  Value* keep = recipe.accumulate ? graph.add_input("train/keep", Type::tensor(DType::kF32, Dims{})) : nullptr;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!grads[i]) continue;
    const Tensor& weights = *parameters[i]->constant;
    const std::string name = gradient_name(parameters[i]->name);
    g.parameters.push_back(parameters[i]->name);
    g.gradient_states.push_back(name);
    g.trained += weights.size();
    g.state->add(name, Tensor::zeros(weights.dtype(), weights.dims()));
    Value* sum = inverse ? build.op("Mul", {grads[i], inverse}) : grads[i];
    if (recipe.keep_zeros) sum = masked(build, sum, weights);
    if (keep) {
      Value* before = graph.add_input(name, Type::tensor(weights.dtype(), weights.dims()));
      sum = build.op("Add", {build.op("Mul", {before, keep}), sum});
    } else {
      graph.add_input(name, Type::tensor(weights.dtype(), weights.dims()));
    }
    update_state(graph, name, sum, g.gradient_updates);
    move_to_state(graph, parameters[i], *g.state);
  }
}

/// The norm of all gradients, times `scale`.
Value* total_norm(Builder& build, const std::vector<Value*>& grads, Value* scale) {
  std::vector<Value*> squares;
  for (Value* grad : grads) {
    if (grad->type.dtype != DType::kF32) grad = build.op("Cast", {grad}, {{"to", int64_t{1}, {}}});
    squares.push_back(build.op("ReduceSumSquare", {grad}, {{"keepdims", int64_t{0}, {}}}));
  }
  return build.op("Mul", {build.op("Sqrt", {build.op("Sum", squares)}), scale});
}

void make_update(TrainingGraphs& g, const Recipe& recipe, TypeRule types) {
  g.update.ir_version = 10;
  g.update.set_opset("", 21);
  Builder build(g.update, types);
  Graph& graph = *g.update.graph;
  const auto scalar = [&](const char* name) { return graph.add_input(name, Type::tensor(DType::kF32, Dims{})); };
  Value *rate = scalar("train/rate"), *step = scalar("train/step"), *scale = scalar("train/scale");
  std::vector<Value*> parameters, grads;
  for (const std::string& name : g.parameters) {
    const Tensor& weights = g.state->at(name);
    const Type type = Type::tensor(weights.dtype(), weights.dims());
    parameters.push_back(graph.add_input(name, type));
    grads.push_back(graph.add_input(gradient_name(name), type));
  }
  if (recipe.clip > 0) {
    Value* norm = total_norm(build, grads, scale);
    graph.add_output(norm);
    constexpr double kTiny = 1e-6;
    Value* most = build.op("Div", {build.number(recipe.clip), build.op("Add", {norm, build.number(kTiny)})});
    scale = build.op("Mul", {scale, build.op("Min", {most, build.number(1)})});
  }
  std::vector<UpdateArgs> all;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const bool decays = Builder::dims(parameters[i]).size() > 1;  // not biases and norms
    all.push_back({build, parameters[i], grads[i], rate, step, scale, decays ? recipe.settings.weight_decay : 0,
                   recipe.settings, *g.state, g.parameter_updates});
    recipe.optimizer->update(all.back());
  }
  if (recipe.constrain) {
    Constraint constraint(build, step, g.parameters, g.gradient_states, *g.state, g.parameter_updates);
    recipe.constrain(constraint);
  }
  if (recipe.average > 0)
    for (UpdateArgs& args : all) add_average(args, recipe.average, recipe.constrain != nullptr);
}

}  // namespace

TrainingGraphs make_graphs(const Model& model, const BatchInputs& inputs, const Recipe& recipe, TypeRule types) {
  TrainingGraphs g;
  g.state = std::make_shared<StateStore>();
  g.gradients = clone(model);
  g.fixed = inputs.fixed;
  bind_batch(g.gradients, inputs, types);
  PassContext context;
  context.standard_types = types;
  context.target = Target::kKernels;
  run_pass(g.gradients, fusion::fuse_gelu, context);  // a fraction of the memory and of the time
  if (recipe.train_batch_norm) g.statistics = train_batch_norm(g.gradients, *g.state, g.gradient_updates, types);
  const std::vector<Node*> dropouts = dropouts_of(g.gradients);  // a teacher's, which the loss may add, stay
  Builder build(g.gradients, types);
  std::vector<Value*> parameters = trainable(g.gradients, recipe.choice);  // before the loss adds what is not
  widen_parameters(*g.gradients.graph, parameters);
  add_corrections(*g.gradients.graph, recipe.corrected, *g.state);
  if (recipe.precision.on()) g.products = lower_products(g.gradients, recipe.precision, parameters);
  LossArgs args{build, output_of(*g.gradients.graph, model.graph->outputs().size(), recipe.output),
                recipe.label_smoothing, recipe.mixed};
  const LossGraph loss = recipe.objective ? recipe.objective(args) : recipe.loss->build(args);
  parameters.insert(parameters.end(), loss.learned.begin(), loss.learned.end());
  widen_parameters(*g.gradients.graph, parameters);  // those that the loss learns
  if (loss.labels) g.labels = loss.labels->name;
  g.classes = loss.classes;
  g.within_one = loss.within_one;
  if (recipe.dropout) {
    g.dropouts = seed_dropouts(g.gradients, dropouts, *recipe.dropout, model, inputs.dims, types);
    seed_random(g.gradients, inputs.dims, types, g.dropouts);
  }
  g.gradients.graph->add_output(loss.loss);
  Value* scale = recipe.precision.scales() ? add_scale(g, *loss.loss, parameters) : nullptr;
  Value* passed_back = scale ? build.op("Mul", {loss.loss, scale}) : loss.loss;
  const std::vector<Value*> grads = add_gradients(g.gradients, passed_back, parameters, types);
  keep_gradients(g, parameters, grads, scale, recipe, build);
  if (recipe.recompute.on) g.recomputed = recompute(g.gradients, loss.loss->name, recipe.recompute);
  if (g.parameters.empty())
    input_error("the loss depends on nothing that is trained", model.path,
                "train more (--trainable GLOB), or take the loss of another --loss-output");
  make_update(g, recipe, types);
  return g;
}

std::vector<std::string> results(const TrainingGraphs& graphs) {
  std::vector<std::string> names;
  for (const std::string& name : graphs.parameters)
    names.push_back(graphs.state->has(average_of(name)) ? average_of(name) : name);
  names.insert(names.end(), graphs.statistics.begin(), graphs.statistics.end());
  return names;
}

void store_weights(Model& model, const TrainingGraphs& graphs) {
  std::vector<std::string> names = graphs.parameters;
  names.insert(names.end(), graphs.statistics.begin(), graphs.statistics.end());
  const std::vector<std::string> values = results(graphs);
  for (size_t i = 0; i < names.size(); ++i)
    if (Value* weights = model.graph->find(names[i]))
      weights->constant = cast(graphs.state->at(values[i]), weights->constant->dtype());
}

}  // namespace mlopt::train
