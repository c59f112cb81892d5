#include "prune/penalties.h"

#include <algorithm>
#include <cmath>

#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "core/train/average.h"
#include "tests/support/catch.h"
#include "tests/support/sparse_training.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

using Weights = std::map<std::string, std::vector<double>>;

SparseTraining train_net(const Net& net, const prune::Spec& spec, const train::TrainingHooks& hooks = {},
                         double rate = 0.01) {
  const train::Schedule schedule{train::find_schedule("constant"), 0.01, SparseTraining::kSteps};
  return train_sparse(
      net, [&](train::Recipe& recipe) { add_penalty(recipe, net.model, spec, schedule); }, hooks, rate);
}

SparseTraining train_with(const prune::Spec& spec) { return train_net(sparse_network(), spec); }

Weights first_weights() {
  Weights weights;
  const Net net = sparse_network();
  for (const char* name : {"w", "b", "v"}) weights[name] = to_doubles(*net.model.graph->find(name)->constant);
  return weights;
}

/// What the neurons have behind `done` updates.
train::TrainingHooks looking_at(int64_t moment, Weights& seen) {
  train::TrainingHooks hooks;
  hooks.before = [moment, &seen](int64_t done, const train::TrainingGraphs& graphs) {
    if (done != moment) return;
    for (const std::string& name : graphs.parameters) seen[name] = to_doubles(graphs.state->at(name));
  };
  return hooks;
}

/// How many of the 16 neurons are gone; each is gone as a whole.
int gone_neurons(const Weights& weights) {
  const auto &w = weights.at("w"), &b = weights.at("b"), &v = weights.at("v");
  int gone = 0;
  for (size_t c = 0; c < 16; ++c) {
    int there = (b[c] != 0) + (v[c] != 0);
    for (size_t i = 0; i < 6; ++i) there += w[16 * i + c] != 0;
    CHECK((there == 0 || there == 8));
    gone += there == 0;
  }
  return gone;
}

/// The network with a number that each neuron is multiplied by.
Net scaled_network() {
  Net net = sparse_network();
  Node* relu = net.graph().find("v")->uses[0].node->input(0)->producer;
  Value* scale = net.graph().add_constant("s", uniform({16}, 0.5, 1.5));
  Value* scaled = net.op("Mul", {relu->input(0), scale});
  net.graph().set_input(relu, 0, scaled);
  net.graph().sort();
  infer(net.model, standard_types);
  return net;
}

prune::Spec spec_of(const std::string& granularity, const std::string& allocation, const std::string& penalty = "") {
  prune::Spec spec;
  spec.method = prune::kRegularization;
  spec.penalty = penalty;
  spec.granularity = prune::parse_granularity(granularity);
  spec.sparsity = 0.5;
  spec.allocation = allocation;
  return spec;
}

}  // namespace

TEST_CASE("l1 pulls as many weights to zero as are asked for, and they stay there") {
  const SparseTraining global = train_with(spec_of("element", "global"));
  CHECK(global.last < 0.3 * global.first);
  const double share = (96 * zeros(global.at_end.at("w")) + 16 * zeros(global.at_end.at("v"))) / 112;
  CHECK(share == Approx(0.5).margin(0.06));
  for (const char* name : {"w", "v"})
    for (size_t i = 0; i < global.at_end.at(name).size(); ++i)
      CHECK((global.weights.at(name)[i] == 0) == (global.at_end.at(name)[i] == 0));
  CHECK(zeros(global.at_end.at("b")) == 0);  // biases are no weights
  const SparseTraining uniform = train_with(spec_of("element", "uniform"));
  for (const char* name : {"w", "v"}) CHECK(zeros(uniform.at_end.at(name)) == Approx(0.5).margin(0.1));
}

TEST_CASE("group LASSO pulls neurons to zero in all that belongs to them") {
  const SparseTraining t = train_with(spec_of("channel", "uniform"));
  CHECK(t.last < 0.3 * t.first);
  const int gone = gone_neurons(t.at_end);
  CHECK(gone >= 7);
  CHECK(gone <= 9);
}

TEST_CASE("growing regularization shrinks what was the least at first, by a factor that grows, and removes it") {
  const prune::Spec spec = spec_of("element", "uniform", "greg");
  Weights before = first_weights(), seen;
  const SparseTraining still = train_net(sparse_network(), spec, looking_at(120, seen), 0);  // no gradient moves it
  double factor = 1;
  for (int t = 1; t <= 120; ++t) factor /= 1 + 2 * std::log(1000) / (200.0 * 201) * t;
  // Sizes are in units of the norms of rows: of the weights of a neuron.
  std::vector<double> norms(16);
  for (size_t i = 0; i < 96; ++i) norms[i % 16] += before.at("w")[i] * before.at("w")[i];
  std::vector<double> sizes;
  for (size_t i = 0; i < 96; ++i) sizes.push_back(std::abs(before.at("w")[i]) / std::sqrt(norms[i % 16]));
  std::vector<double> sorted = sizes;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < 96; ++i) {
    const bool chosen = sizes[i] <= sorted[47] + 1e-7;
    CHECK(seen.at("w")[i] == Approx(before.at("w")[i] * (chosen ? factor : 1)).epsilon(1e-4));
    CHECK((still.at_end.at("w")[i] == 0) == chosen);
  }
  CHECK(factor < 0.2);
  const SparseTraining t = train_with(spec);
  for (const char* name : {"w", "v"}) CHECK(zeros(t.at_end.at(name)) == 0.5);
  CHECK(t.last < 0.3 * t.first);
}

TEST_CASE("growing regularization takes the neurons that are the least at first") {
  const SparseTraining t = train_with(spec_of("channel", "uniform", "greg"));
  CHECK(gone_neurons(t.at_end) == 8);
  CHECK(t.last < 0.3 * t.first);
  const Weights first = first_weights();
  std::vector<double> in(16), out(16), sizes(16);
  double in_mean = 0, out_mean = 0;
  for (size_t i = 0; i < 96; ++i) in[i % 16] += first.at("w")[i] * first.at("w")[i];
  for (size_t c = 0; c < 16; ++c) {
    in_mean += (in[c] = std::sqrt(in[c])) / 16;
    out_mean += (out[c] = std::abs(first.at("v")[c])) / 16;
  }
  for (size_t c = 0; c < 16; ++c) sizes[c] = in[c] / in_mean + out[c] / out_mean;
  std::vector<double> sorted = sizes;
  std::sort(sorted.begin(), sorted.end());
  for (size_t c = 0; c < 16; ++c) CHECK((t.at_end.at("v")[c] == 0) == (sizes[c] <= sorted[7]));
}

TEST_CASE("slimming pulls scales alone, until all that belongs to those that are zero goes") {
  const Net net = scaled_network();
  const prune::Spec spec = spec_of("channel", "uniform", "slimming");
  Weights pulled;
  train_net(net, spec, looking_at(280, pulled), 0);
  for (const char* name : {"w", "b", "v"}) CHECK(pulled.at(name) == first_weights().at(name));
  const std::vector<double> s = to_doubles(*net.model.graph->find("s")->constant);
  std::vector<double> sorted = s;
  std::sort(sorted.begin(), sorted.end());
  for (size_t c = 0; c < 16; ++c) {
    CHECK(pulled.at("s")[c] >= 0);
    CHECK((pulled.at("s")[c] < 0.99 * s[c]) == (s[c] <= sorted[7]));
  }
  const SparseTraining t = train_net(net, spec);
  CHECK(std::abs(gone_neurons(t.at_end) - 8) <= 1);
  for (size_t c = 0; c < 16; ++c) CHECK((t.at_end.at("s")[c] == 0) == (t.at_end.at("v")[c] == 0));
  CHECK(t.last < 0.3 * t.first);
  const Error error = thrown_by([&] { train_with(spec); });
  CHECK(error.code == Code::kBadInput);
  CHECK(error.message.find("no channel that can go has a scale") != std::string::npos);
}

TEST_CASE("L0 gates close what the network can do without") {
  prune::Spec spec = spec_of("element", "uniform", "l0");
  spec.sparsity = 0.7;
  const SparseTraining t = train_with(spec);
  for (const char* name : {"w", "v"}) CHECK(zeros(t.at_end.at(name)) == Approx(0.7).margin(0.07));
  CHECK(error_with(t.at_end) < 0.1 * t.first);
  // The last four of the six inputs mean nothing: what is left reads the first two.
  const std::vector<double> w = t.at_end.at("w"), read(w.begin(), w.begin() + 32), unread(w.begin() + 32, w.end());
  CHECK(1 - zeros(read) > 2 * (1 - zeros(unread)));
  const SparseTraining channels = train_with(spec_of("channel", "uniform", "l0"));
  CHECK(std::abs(gone_neurons(channels.at_end) - 8) <= 1);
  CHECK(error_with(channels.at_end) < 0.1 * channels.first);
}

TEST_CASE("penalties take what normalizes a neuron with it") {
  for (const char* penalty : {"group-lasso", "slimming", "greg", "l0"}) {
    INFO(penalty);
    const SparseTraining t = train_net(normalized_network(), spec_of("channel", "uniform", penalty));
    CHECK(std::abs(gone_neurons(t.at_end) - 8) <= 1);
    for (size_t c = 0; c < 16; ++c)
      for (const char* name : {"scale", "shift"}) CHECK((t.at_end.at(name)[c] == 0) == (t.at_end.at("v")[c] == 0));
    CHECK(t.last < 0.5 * t.first);  // the statistics of 8 samples are noise too
  }
}

TEST_CASE("what the spec leaves out is not pulled") {
  for (const char* penalty : {"group-lasso", "greg", "l0"}) {
    prune::Spec spec = spec_of("channel", "uniform", penalty);
    spec.skip = {"v"};
    const Error error = thrown_by([&] { train_with(spec); });
    CHECK(error.code == Code::kBadInput);
    CHECK(error.message.find("no channel that is trained") != std::string::npos);
  }
}

TEST_CASE("a penalty goes with a granularity") {
  CHECK(prune::find_penalty("", prune::parse_granularity("channel")).name == "group-lasso");
  const Error error = thrown_by([] { prune::find_penalty("l1", prune::parse_granularity("channel")); });
  CHECK(error.code == Code::kUsage);
}

TEST_CASE("averages of what a penalty removes are zero too") {
  for (const char* penalty : {"l1", "l0"}) {
    const Net net = sparse_network();
    const prune::Spec spec = spec_of("element", "uniform", penalty);
    Weights weights, averages;
    train::TrainingHooks hooks;
    hooks.before = [&](int64_t done, const train::TrainingGraphs& graphs) {
      if (done != SparseTraining::kSteps - 1) return;
      for (const char* name : {"w", "v"}) {
        weights[name] = to_doubles(graphs.state->at(name));
        averages[name] = to_doubles(graphs.state->at(train::average_of(name)));
      }
    };
    train_sparse(
        net,
        [&](train::Recipe& recipe) {
          add_penalty(recipe, net.model, spec, {train::find_schedule("constant"), 0.01, SparseTraining::kSteps});
          recipe.average = 0.99;
        },
        hooks);
    for (const char* name : {"w", "v"}) {
      CHECK(zeros(weights[name]) > 0.3);
      for (size_t i = 0; i < weights[name].size(); ++i) CHECK((weights[name][i] == 0) == (averages[name][i] == 0));
    }
  }
}

}  // namespace mlopt::test
