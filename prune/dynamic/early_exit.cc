#include "prune/dynamic/early_exit.h"

#include <algorithm>
#include <cmath>

#include "core/base/rng.h"
#include "core/ir/infer.h"
#include "core/ir/instantiate.h"
#include "core/rewrite/extract.h"
#include "core/tensor/cast.h"
#include "prune/dynamic/writer.h"

namespace mlopt::prune {
namespace {

constexpr int64_t kLeastChannels = 64, kMostChannels = 256;
constexpr const char* kName = "early_exit";  // that what is added is named after

/// Weights of ReLU's layers as He et al. 2015 begin them.
Tensor drawn(const Dims& dims, Rng& rng, double gain) {
  int64_t inputs = 1;
  for (size_t i = 1; i < dims.size(); ++i) inputs *= dims[i];
  std::vector<float> numbers(static_cast<size_t>(element_count(dims)));
  for (float& w : numbers) w = static_cast<float>(rng.normal() * std::sqrt(gain / static_cast<double>(inputs)));
  return Tensor::of<float>(dims, numbers);
}

int64_t size_at(const Value& value, size_t axis) { return (*value.type.dims)[axis].value().value(); }

/// The classifier at a place, and what it learns.
class Head {
 public:
  Head(Model& model, uint64_t seed) : write_(*model.graph, model.opset(), kName), rng_(seed) {}

  Value* classify(Value* x, int64_t classes) {
    int64_t width = size_at(*x, x->type.dims->size() == 3 ? 2 : 1);
    if (x->type.dims->size() == 4) {
      const int64_t channels = std::clamp(width, kLeastChannels, kMostChannels);
      x = write_.op(
          "Conv",
          {x, weight("filters", drawn({channels, width, 3, 3}, rng_, 2)), weight("filter_biases", zeros(channels))},
          {{"kernel_shape", std::vector<int64_t>{3, 3}, ""},
           {"pads", std::vector<int64_t>{1, 1, 1, 1}, ""},
           {"strides", std::vector<int64_t>{2, 2}, ""}});
      x = write_.op("GlobalAveragePool", {write_.op("Relu", {x})});
      x = write_.op("Flatten", {x}, {{"axis", int64_t{1}, ""}});
      width = channels;
    } else if (x->type.dims->size() == 3) {
      x = write_.reduce("ReduceMean", x, {1});
    }
    return write_.op("Gemm",
                     {x, weight("classes", drawn({classes, width}, rng_, 1)), weight("class_biases", zeros(classes))},
                     {{"transB", int64_t{1}, ""}});
  }
  std::vector<std::string> weights;

 private:
  static Tensor zeros(int64_t n) { return Tensor::of<float>({n}, std::vector<float>(static_cast<size_t>(n))); }
  Value* weight(const char* name, Tensor tensor) {
    Value* made = write_.numbers(name, std::move(tensor));
    weights.push_back(made->name);
    return made;
  }

  Writer write_;
  Rng rng_;
};

bool gives_probabilities(const Model& source) {
  const Node* last = source.graph->outputs()[0]->producer;
  return last && last->is("Softmax");
}

/// The rest of the source over samples `x`, in the graph.
Value* run_rest(Graph& graph, Model rest, Value* x, FreshNames& names) {
  Function function;
  function.name = "rest";
  function.body = std::move(rest.graph);
  const std::string y = names.make("rest_of_samples");
  Node* call = graph.add_node("", "rest", {x}, {graph.add_value(y)});
  instantiate(call, function, names);  // another value has the name then
  return graph.find(y);
}

/// Samples that are not sure enough go on alone, and what comes of them takes the place of what the exit said.
Value* go_on(Graph& body, Model rest, Value* features, Value* said, Value* unsure, int64_t opset, FreshNames& names) {
  Writer write(body, opset, kName);
  if (!unsure) return run_rest(body, std::move(rest), features, names);
  Value* which = write.reshape(write.op("NonZero", {unsure}), {-1});
  Value* samples = write.op("Gather", {features, which}, {{"axis", int64_t{0}, ""}});
  Value* y = run_rest(body, std::move(rest), samples, names);
  return write.op("ScatterND", {said, write.reshape(which, {-1, 1}), y});
}

}  // namespace

ExitModel with_exit_head(const Model& source, const ExitPlace& place, TypeRule standard, uint64_t seed) {
  ExitModel made;
  made.model = clone(source);
  infer(made.model, standard);
  const int64_t classes = size_at(*made.model.graph->outputs()[0], 1);
  extract(made.model, {}, {place.value});
  infer(made.model, standard);
  Head head(made.model, seed);
  Value* logits = head.classify(made.model.graph->outputs()[0], classes);
  made.model.graph->rename(logits, made.model.graph->fresh_name("early_exit_scores"));
  made.model.graph->set_output(0, logits);
  infer(made.model, standard);
  made.weights = std::move(head.weights);
  return made;
}

Model behind(const Model& source, const ExitPlace& place) {
  Model rest = clone(source);
  extract(rest, {place.value}, {});
  return rest;
}

Model with_exit(const Model& source, const Model& trained, const ExitPlace& place, double confidence,
                TypeRule standard) {
  Model typed = clone(source), made = clone(trained);
  infer(typed, standard);
  Model rest = behind(typed, place);
  const Value& wanted = *typed.graph->outputs()[0];
  const bool one = (*wanted.type.dims)[0].value() == 1;
  Graph& graph = *made.graph;
  Writer write(graph, made.opset(), kName);
  Value *features = graph.find(place.value), *logits = graph.outputs()[0];
  if (Value* taken = graph.find(wanted.name)) graph.rename(taken, graph.fresh_name("early_exit_inner"));
  const std::vector<Attr> last = {{"axis", int64_t{1}, ""}};
  Value* probabilities = write.op("Softmax", {logits}, last);
  Value* said = gives_probabilities(source) ? probabilities : logits;
  Value* sure = write.reduce("ReduceMax", probabilities, {1});
  Value* limit = write.numbers("confidence", Tensor::scalar(static_cast<float>(confidence)));
  Value* unsure = one ? nullptr : write.op("Less", {sure, limit});
  Value* leave = write.op("Not", {write.op("Less", {write.reduce("ReduceMin", sure, {}), limit})});
  const auto then_body = std::make_shared<Graph>(), else_body = std::make_shared<Graph>();
  Value* y = graph.add_value(wanted.name, wanted.type);
  y->declared = true;
  FreshNames names(graph);
  Node* branch =
      graph.add_node("", "If", {leave}, {y}, {{"then_branch", then_body, ""}, {"else_branch", else_body, ""}});
  branch->name = graph.fresh_name("early_exit");
  then_body->name = "leave";
  else_body->name = "go_on";
  then_body->add_output(Writer(*then_body, made.opset(), kName).op("Identity", {said}));
  else_body->add_output(go_on(*else_body, std::move(rest), features, said, unsure, made.opset(), names));
  graph.set_output(0, y);
  infer(made, standard);
  return made;
}

}  // namespace mlopt::prune
