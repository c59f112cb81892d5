#include "backends/gpu/state_memory.h"

#include <cmath>
#include <cstring>
#include <map>

#include "backends/gpu/interface.h"
#include "backends/reference/backend.h"
#include "core/train/loss_scale.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"
#include "tests/support/line_fit.h"

namespace mlopt::test {
namespace {

/// Convolutions, batch and layer norms, both pools, GELU, dropout and a classifier: [8, 2, 8, 8] to three classes.
Net small_network() {
  Net net;
  Graph& graph = net.graph();
  const auto weights = [&](const char* name, Dims dims, double low = -0.5, double high = 0.5) {
    return graph.add_constant(name, uniform(std::move(dims), low, high, DType::kF32, graph.values().size()));
  };
  const auto ints = [](std::initializer_list<int64_t> values) { return std::vector<int64_t>(values); };
  const Attr pads{"pads", ints({1, 1, 1, 1}), {}}, side{"kernel_shape", ints({2, 2}), {}},
      strides{"strides", ints({2, 2}), {}};
  Value* y = net.op("Conv", {net.input({8, 2, 8, 8}), weights("first.w", {16, 2, 3, 3})}, {pads});
  y = net.op("BatchNormalization", {y, weights("bn.scale", {16}, 0.5, 1.5), weights("bn.bias", {16}),
                                    weights("bn.mean", {16}), weights("bn.var", {16}, 0.5, 1.5)});
  y = net.op("MaxPool", {net.op("Relu", {y})}, {side, strides});
  y = net.op("Conv", {y, weights("second.w", {16, 16, 3, 3}), weights("second.b", {16})}, {pads, strides});
  y = net.op("Flatten", {net.op("AveragePool", {net.op("Gelu", {y})}, {side, strides})});
  y = net.op("LayerNormalization", {y, weights("ln.scale", {16}, 0.5, 1.5), weights("ln.bias", {16})});
  y = net.op("Dropout", {y, net.constant(tensor({}, {0.25}))});
  net.output(net.op("Gemm", {y, weights("fc.w", {16, 3}), weights("fc.b", {3})}));
  infer(net.model, standard_types);
  return net;
}

MemoryData labelled_pictures() {
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < 24; ++i) labels.push_back(i % 3);
  Tensor x = uniform({24, 2, 8, 8}, -1, 1);
  for (int64_t i = 0; i < 24; ++i) x.mutable_data<float>()[i * 128] += static_cast<float>(2 * (i % 3));
  return {x, Tensor::ints(labels)};
}

}  // namespace

TEST_CASE("a training that lives on a GPU is the one of the reference backend, and the same every time") {
  const MemoryData data = labelled_pictures();
  std::vector<std::map<std::string, Tensor>> found;
  std::vector<double> losses;
  for (const int run : {0, 1, 2}) {
    const Net net = small_network();
    train::Recipe r = recipe("adamw");
    r.loss = train::find_loss("cross-entropy");
    r.clip = 1;
    r.dropout = train::DropoutChoice{};
    const train::TrainingGraphs graphs = train::make_graphs(net.model, {{8, 2, 8, 8}}, r, standard_types);
    const auto backend = run == 0 ? reference_backend() : gpu_on_host();
    train::Trainer trainer(graphs, data, *backend, {}, loop(0.01, 8));
    if (run > 0) CHECK(trainer.fallback_nodes().empty());
    double last = 0;
    for (int i = 0; i < 12; ++i) last = trainer.step().loss;
    losses.push_back(last);
    auto& all = found.emplace_back();
    for (const auto* names : {&graphs.parameters, &graphs.statistics})
      for (const std::string& name : *names) all[name] = graphs.state->at(name);
  }
  CHECK(losses[1] == Approx(losses[0]).epsilon(1e-3));
  CHECK(losses[1] == losses[2]);
  REQUIRE(found[0].size() == 11);
  for (const auto& [name, value] : found[0]) {
    INFO(name);
    require_close(found[1].at(name), value, 2e-4);
    require_close(found[2].at(name), found[1].at(name), 0);
  }
}

TEST_CASE("numbers that are not finite are found on the device, of which only that comes back") {
  const gpu::Device device{&gpu::gpu_interface(), 0};
  const auto store = std::make_shared<StateStore>();
  std::vector<std::string> names;
  constexpr int kValues = 150;  // more than one kernel takes
  for (int i = 0; i < kValues; ++i) {
    const DType types[] = {DType::kF32, DType::kF16, DType::kBF16};
    names.push_back("v" + std::to_string(i));
    store->add(names.back(), uniform({i == 7 ? 40000 : 1 + i}, -1, 1, types[i % 3], static_cast<uint64_t>(i)));
  }
  gpu::DeviceState state(store, device);
  gpu::WorkQueue queue(device);
  for (const std::string& name : names) {
    state.bring(name, queue);
    state.note_change(name);
  }
  CHECK(train::all_finite(*store, names));
  for (const auto& [value, at] : {std::pair{0, 0}, {7, 0}, {7, 39999}, {7, 16384}, {128, 100}, {149, 149}, {148, 3}}) {
    const std::string& name = names[static_cast<size_t>(value)];
    const DType type = store->on_host(name).dtype();
    const size_t width = static_cast<size_t>(bits(type)) / 8;
    std::byte* place = state.at(name) + static_cast<size_t>(at) * width;
    const std::vector<std::byte> before(place, place + width);
    for (const float bad : {INFINITY, -INFINITY, NAN}) {
      INFO(name << " " << at << ": " << bad);
      std::memcpy(place, cast(Tensor::scalar(static_cast<double>(bad)), type).raw(), width);
      CHECK_FALSE(train::all_finite(*store, names));
    }
    std::memcpy(place, before.data(), width);
  }
  CHECK(train::all_finite(*store, names));
  for (const std::string& name : names) CHECK(store->copy(name)->newer);  // the host has not looked at it

  store->set("v3", Tensor::zeros(DType::kF32, {4}));  // without a look at what it was
  CHECK_FALSE(store->copy("v3")->newer);
  CHECK(train::all_finite(*store, names));
}

TEST_CASE("a training in float16 leaves the same updates out on a GPU as on the reference backend") {
  const MemoryData data = line();
  std::vector<std::vector<bool>> skipped;
  std::vector<std::vector<double>> learned;
  for (const int run : {0, 1}) {
    train::Recipe r = recipe("adamw");
    r.precision.type = DType::kF16;
    const train::TrainingGraphs graphs = train::make_graphs(linear().model, {{8, 3}}, r, standard_types);
    const auto backend = run == 0 ? reference_backend() : gpu_on_host();
    train::Trainer trainer(graphs, data, *backend, {}, loop(0.05, 8), {0, 1, "", {0x1p24}});
    auto& all = skipped.emplace_back();
    for (int i = 0; i < 30; ++i) all.push_back(trainer.step().skipped);
    learned.push_back(weights(graphs));
  }
  CHECK(skipped[0] == skipped[1]);
  CHECK(skipped[0].front());
  CHECK_FALSE(skipped[0].back());
  for (size_t i = 0; i < 3; ++i) CHECK(learned[1][i] == Approx(learned[0][i]).epsilon(1e-3));
}

}  // namespace mlopt::test
