#include "distill/data_free.h"

#include <fmt/core.h>

#include <cstring>

#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/ir/view.h"
#include "core/tensor/cast.h"
#include "core/train/graphs.h"
#include "core/train/schedule.h"
#include "core/train/scores.h"
#include "distill/ops.h"

namespace mlopt::distill {
namespace {

constexpr const char* kSamples = "distill/samples";

class Samples : public Dataset {
 public:
  explicit Samples(Tensor all) : all_(std::move(all)) {}

  int64_t size() const override { return all_.dims()[0]; }
  int64_t batch_size() const override { return 0; }
  bool labelled() const override { return false; }
  std::string name_of(int64_t i) const override { return fmt::format("made sample {}", i); }
  Batch batch(int64_t first, int64_t count) const override {
    Dims dims = all_.dims();
    const size_t row = all_.bytes() / static_cast<size_t>(dims[0]);
    dims[0] = count;
    Tensor part(all_.dtype(), dims);
    std::memcpy(part.mutable_raw(), all_.raw() + static_cast<size_t>(first) * row, part.bytes());
    return {{part}, {}, count};
  }

 private:
  Tensor all_;
};

bool remembers(const Node& node) {
  const auto known = [&](int i) { return node.input(i) && node.input(i)->constant; };
  return node.is("BatchNormalization") && known(3) && known(4);
}

/// The shape of a batch of what the model takes; free dimensions but the first are refused.
Dims batch_dims(const Model& model, int64_t batch) {
  const Value* input = nullptr;
  for (const Value* v : model.graph->inputs())
    if (!v->is_initializer()) {
      if (input) input_error("samples can be made for one input only", model.path, "give --data");
      input = v;
    }
  if (!input || input->type.dtype != DType::kF32 || !input->type.dims || input->type.dims->empty())
    input_error("samples can be made for an input of float32 only", model.path, "give --data");
  Dims dims = {batch};
  for (size_t i = 1; i < input->type.dims->size(); ++i) {
    const auto size = (*input->type.dims)[i].value();
    if (!size)
      input_error(fmt::format("the input {} has no fixed size", to_string(input->type)), model.path, "give --data");
    dims.push_back(*size);
  }
  return dims;
}

/// The model with samples in the place of its input: weights among weights.
Model with_samples(const Model& teacher, const Dims& dims) {
  Model model = clone(teacher);
  Graph& graph = *model.graph;
  for (int i = static_cast<int>(graph.inputs().size()); i-- > 0;) {
    Value* input = graph.inputs()[static_cast<size_t>(i)];
    if (!input->constant) graph.replace_uses(input, graph.add_constant(kSamples, Tensor::zeros(DType::kF32, dims)));
    graph.remove_input(i);
  }
  return model;
}

/// How far mean and variance of what a normalization takes are from those that it remembers, in units of the latter.
Value* distance(train::Builder& b, const Node& node) {
  Value* x = node.input(0);
  const Dims dims = train::Builder::dims(x);
  std::vector<int64_t> axes = {0};
  Dims shape(dims.size(), 1);
  shape.at(1) = dims.at(1);
  for (size_t i = 2; i < dims.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  constexpr double kTiny = 1e-5;
  Value* remembered = b.op("Add", {reshaped(b, node.input(4), shape), b.number(kTiny)});
  Value* found = mean(b, x, axes);
  Value* off = b.op("Sub", {found, reshaped(b, node.input(3), shape)});
  Value* variance = mean(b, square(b, b.op("Sub", {x, found})), axes);
  Value* wrong = b.op("Sub", {b.op("Div", {variance, remembered}), b.number(1)});
  return b.op("Add", {b.mean(b.op("Div", {square(b, off), remembered})), b.mean(square(b, wrong))});
}

/// The samples of a batch are to be of all classes in turn.
Value* sureness(train::Builder& b, Value* output) {
  const Dims dims = train::Builder::dims(output);
  if (dims.size() != 2 || dims[1] < 2) return nullptr;
  std::vector<int64_t> classes;
  for (int64_t i = 0; i < dims[0]; ++i) classes.push_back(i % dims[1]);
  train::LossArgs args{b, output};
  return train::mean_cross_entropy(args, train::before_softmax(output, 1, b.opset()), b.indices(classes));
}

train::LossGraph objective(train::LossArgs& args) {
  train::Builder& b = args.build;
  train::LossGraph whole{};
  for (const Node* node : b.graph().nodes()) {
    if (!remembers(*node)) continue;
    Value* term = distance(b, *node);
    whole.loss = whole.loss ? b.op("Add", {whole.loss, term}) : term;
  }
  if (Value* sure = sureness(b, args.output)) whole.loss = b.op("Add", {whole.loss, sure});
  return whole;
}

/// One batch after the other is trained in the place of the samples.
class Maker {
 public:
  Maker(const Model& teacher, const Dims& dims, Backend& backend, const DataFreeSettings& settings, TypeRule types)
      : settings_(settings), rng_(settings.seed), graphs_(graphs(teacher, dims, types)) {
    gradients_ = compile(backend, graphs_.gradients, graphs_.gradient_updates);
    update_ = compile(backend, graphs_.update, graphs_.parameter_updates);
    for (const std::string& name : moments()) start_.emplace_back(name, graphs_.state->at(name));
  }

  Tensor make() {
    Tensor noise = Tensor::zeros(DType::kF32, graphs_.state->at(kSamples).dims());
    for (float& x : std::span(noise.mutable_data<float>(), static_cast<size_t>(noise.size())))
      x = static_cast<float>(rng_.normal());
    graphs_.state->set(kSamples, noise);
    for (const auto& [name, value] : start_) graphs_.state->set(name, value);
    const train::Schedule schedule{train::find_schedule("cosine"), settings_.rate, settings_.steps, 0};
    for (int64_t step = 0; step < settings_.steps; ++step) {
      gradients_->run({});
      const std::vector<Datum> inputs = {Tensor::scalar(static_cast<float>(schedule.at(step))),
                                         Tensor::scalar(static_cast<float>(step + 1)), Tensor::scalar(1.0F)};
      update_->run(inputs);
    }
    return graphs_.state->at(kSamples);
  }

 private:
  static train::TrainingGraphs graphs(const Model& teacher, const Dims& dims, TypeRule types) {
    train::Recipe recipe;
    recipe.loss = train::find_loss("mse");
    recipe.objective = objective;
    recipe.optimizer = train::find_optimizer("adam");
    recipe.choice.only = {kSamples};
    recipe.train_batch_norm = false;
    return train::make_graphs(with_samples(teacher, dims), {}, recipe, types);
  }

  std::unique_ptr<Executable> compile(Backend& backend, const Model& model,
                                      const std::vector<StateUpdate>& updates) const {
    CompileOptions options = settings_.options;
    options.state = graphs_.state;
    options.updates = updates;
    return backend.compile(model, options);
  }

  /// What the optimizer keeps, which begins anew with each batch.
  std::vector<std::string> moments() const {
    std::vector<std::string> names;
    for (const StateUpdate& update : graphs_.parameter_updates)
      if (update.state != kSamples) names.push_back(update.state);
    return names;
  }

  const DataFreeSettings& settings_;
  Rng rng_;
  train::TrainingGraphs graphs_;
  std::unique_ptr<Executable> gradients_, update_;
  std::vector<std::pair<std::string, Tensor>> start_;
};

}  // namespace

std::unique_ptr<Dataset> make_samples(const Model& teacher, Backend& backend, const DataFreeSettings& settings,
                                      TypeRule types) {
  bool any = false;
  for (const Node* node : teacher.graph->nodes()) any = any || remembers(*node);
  if (!any)
    input_error("no BatchNormalization of the teacher remembers statistics of data", teacher.path,
                "give --data, or a teacher whose normalizations were not folded into its weights");
  Dims dims = batch_dims(teacher, std::min(settings.batch, settings.samples));
  Maker maker(teacher, dims, backend, settings, types);
  const int64_t batch = dims[0];
  dims[0] = settings.samples;
  Tensor all(DType::kF32, dims);
  for (int64_t first = 0; first < settings.samples; first += batch) {
    const Tensor made = maker.make();
    const size_t row = made.bytes() / static_cast<size_t>(batch);
    const auto count = static_cast<size_t>(std::min(batch, settings.samples - first));
    std::memcpy(all.mutable_raw() + static_cast<size_t>(first) * row, made.raw(), count * row);
    if (settings.progress) settings.progress(first + static_cast<int64_t>(count));
  }
  return std::make_unique<Samples>(std::move(all));
}

}  // namespace mlopt::distill
