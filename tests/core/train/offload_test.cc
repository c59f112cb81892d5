#include "core/train/offload.h"

#include <algorithm>
#include <map>

#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "core/train/graphs.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

constexpr int kLayers = 6;
constexpr int64_t kBytes = 6 * 8 * 4;  // of an activation

/// Layers of Gemm, Tanh and BatchNormalization over [6, 8], with a Reshape there and back in the middle of each.
Model tower() {
  Net net;
  const auto weights = [&](const std::string& name, Dims dims, double low = -0.5) {
    return net.graph().add_constant(name, uniform(dims, low, 0.9, DType::kF32, net.graph().values().size()));
  };
  const auto shape = [&](std::initializer_list<int64_t> dims) { return net.constant(Tensor::ints(dims)); };
  Value* x = net.input({6, 8});
  for (int i = 0; i < kLayers; ++i) {
    const std::string name = "layer" + std::to_string(i);
    x = net.op("Gemm", {x, weights(name + ".w", {8, 8})});
    x = net.op("Reshape", {net.op("Tanh", {x}), shape({6, 4, 2})});
    x = net.op("Mul", {x, weights(name + ".factor", {4, 2})});
    x = net.op("Reshape", {x, shape({6, 8})});
    x = net.op("BatchNormalization", {x, weights(name + ".scale", {8}, 0.5), weights(name + ".bias", {8}),
                                      weights(name + ".mean", {8}), weights(name + ".var", {8}, 0.5)});
  }
  net.output(net.op("Gemm", {x, weights("head.w", {8, 3})}));
  infer(net.model, standard_types);
  return std::move(net.model);
}

train::TrainingGraphs graphs_of() {
  train::Recipe r;
  r.loss = train::find_loss("cross-entropy");
  r.optimizer = train::find_optimizer("sgd");
  return train::make_graphs(tower(), {{6, 8}}, r, standard_types);
}

std::string loss_of(const train::TrainingGraphs& graphs) {
  const auto& outputs = graphs.gradients.graph->outputs();
  const auto loss = std::find_if(outputs.begin() + 1, outputs.end(),
                                 [&](const Value* v) { return !find_update(graphs.gradient_updates, v->name); });
  return (*loss)->name;
}

/// Of three runs on the device: the gradients and statistics, what the plan's values take, and what was moved.
struct Found {
  std::map<std::string, Tensor> state;
  size_t arena = 0;
  std::shared_ptr<HostTraffic> traffic = std::make_shared<HostTraffic>();
};

Found run(const train::TrainingGraphs& graphs) {
  Found found;
  CompileOptions options;
  options.state = graphs.state;
  options.updates = graphs.gradient_updates;
  options.host_traffic = found.traffic;
  const std::vector<Datum> inputs = {uniform({6, 8}, -1, 1), tensor({6}, {0, 1, 2, 0, 1, 2}, DType::kI64)};
  const auto plan = gpu_on_host()->compile(graphs.gradients, options);
  for (int i = 0; i < 3; ++i) plan->run(inputs);
  found.arena = plan->plan_info(inputs).value().arena_bytes;
  for (const std::string& name : graphs.parameters) found.state[name] = graphs.state->at(name + "/gradient");
  for (const std::string& name : graphs.statistics) found.state[name] = graphs.state->at(name);
  return found;
}

int64_t count(const Model& model, std::string_view op) {
  const std::vector<Node*> nodes = model.graph->nodes();
  return std::count_if(nodes.begin(), nodes.end(), [&](const Node* node) { return node->op == op; });
}

}  // namespace

TEST_CASE(
    "activations that wait in the host's memory change no bit of what a GPU trains, and take less of its memory") {
  const Found whole = run(graphs_of());
  CHECK(whole.traffic->bytes == 0);
  train::TrainingGraphs graphs = graphs_of();
  const train::Offloaded done = train::offload_activations(graphs.gradients, loss_of(graphs), kBytes);
  CHECK(verify(graphs.gradients).empty());
  CHECK(done.values >= 2 * (kLayers - 2));
  CHECK(done.bytes == done.values * kBytes);
  CHECK(done.bytes_after < 0.7 * static_cast<double>(done.bytes_before));
  CHECK(count(graphs.gradients, "ToHost") == done.values);
  CHECK(count(graphs.gradients, "FromHost") == done.values);

  const Found found = run(graphs);
  CHECK(static_cast<double>(found.arena) < 0.7 * static_cast<double>(whole.arena));
  CHECK(found.traffic->bytes == 2 * done.bytes);  // of one run
  REQUIRE(found.state.size() == whole.state.size());
  for (const auto& [name, tensor] : whole.state) {
    INFO(name);
    require_close(found.state.at(name), tensor, 0);
  }
}

TEST_CASE("one copy is on its way at a time, and values end and begin with theirs") {
  train::TrainingGraphs graphs = graphs_of();
  const std::string loss = loss_of(graphs);
  train::offload_activations(graphs.gradients, loss, kBytes);
  std::map<const Node*, int> at;
  for (const Node* node : graphs.gradients.graph->nodes()) at.emplace(node, static_cast<int>(at.size()));
  const int end = at.at(graphs.gradients.graph->find(loss)->producer);
  bool under_way = false;
  for (const Node* node : graphs.gradients.graph->nodes()) {
    const std::string_view op = node->op;
    if (op == "ToHost" || op == "FromHost") {
      CHECK_FALSE(under_way);
      CHECK((op == "ToHost") == (at.at(node) < end));
      under_way = true;
    }
    if (op == "ToHostEnd") {
      under_way = false;
      for (const Use& use : node->input(0)->uses) CHECK(at.at(use.node) <= at.at(node));  // nothing reads it afterwards
      CHECK(node->input(0)->producer->op != "Reshape");
    }
    if (op != "FromHostEnd") continue;
    under_way = false;
    int first = 1 << 30;
    for (const Use& use : node->output(0)->uses) first = std::min(first, at.at(use.node));
    const Node* between = graphs.gradients.graph->nodes()[static_cast<size_t>(at.at(node)) + 1];
    CHECK(first - at.at(node) <= (between->op == "FromHost" ? 2 : 1));
  }
  CHECK_FALSE(under_way);
}

TEST_CASE("small values stay, and all of them where none is large") {
  train::TrainingGraphs graphs = graphs_of();
  const auto nodes = graphs.gradients.graph->node_count();
  const train::Offloaded done = train::offload_activations(graphs.gradients, loss_of(graphs), kBytes + 1);
  CHECK(done.values == 0);
  CHECK(done.bytes == 0);
  CHECK(graphs.gradients.graph->node_count() >= nodes);  // views are taken again
  CHECK(count(graphs.gradients, "ToHost") == 0);
}

}  // namespace mlopt::test
