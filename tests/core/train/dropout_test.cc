#include "core/train/dropout.h"

#include <cmath>
#include <set>

#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "core/train/trainer.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/memory_data.h"
#include "tests/support/net.h"
#include "tests/support/ranks.h"
#include "tests/support/rewrite.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

constexpr int64_t kSamples = 24;

/// Three features, a layer of sixteen, a Dropout, one number. The number of samples is free.
Net network() {
  Net net;
  const auto weights = [&](const char* name, const Dims& dims, uint64_t seed) {
    return net.graph().add_constant(name, uniform(dims, -1, 1, DType::kF32, seed));
  };
  Value* x = net.graph().add_input("x", Type::tensor(DType::kF32, SymDims{Dim::symbol("N"), 3}));
  Value* hidden = net.op("Tanh", {net.op("MatMul", {x, weights("v", {3, 16}, 1)})});
  Value* dropped = net.op("Dropout", {hidden, net.constant(tensor({}, {0.25}))});
  net.output(net.op("MatMul", {dropped, weights("w", {16, 1}, 2)}));
  infer(net.model, standard_types);
  return net;
}

MemoryData data() {
  const Tensor x = uniform({kSamples, 3}, -1, 1, DType::kF32, 5);
  Tensor y(DType::kF32, {kSamples, 1});
  for (size_t i = 0; i < static_cast<size_t>(kSamples); ++i)
    y.mutable_data<float>()[i] = x.span<float>()[3 * i] - x.span<float>()[3 * i + 2];
  return {x, y};
}

train::Recipe recipe(const char* dropout = "model") {
  train::Recipe r;
  r.loss = train::find_loss("mse");
  r.optimizer = train::find_optimizer("adam");
  r.dropout = train::parse_dropout(dropout);
  return r;
}

/// How a training is split up.
struct Split {
  int ranks = 1;
  int64_t accumulate = 1;
  const char* recompute = "";
  uint64_t seed = 0;
};

/// The losses of two epochs.
std::vector<double> losses_of(const Split& split, const char* dropout = "model") {
  const MemoryData all = data();
  std::vector<double> losses;
  with_ranks(split.ranks, [&](train::Communicator& ranks) {
    train::Recipe r = recipe(dropout);
    r.accumulate = split.accumulate > 1;
    r.recompute = train::parse_recompute(split.recompute);
    train::LoopSettings l;
    l.batch = 8;
    l.accumulate = split.accumulate;
    l.seed = split.seed;
    l.schedule = {train::find_schedule("constant"), 0.02, 100, 0};
    l.ranks = {&ranks, [](train::Communicator*) {}};
    const train::TrainingGraphs graphs =
        train::make_graphs(network().model, {{8 / split.accumulate / split.ranks, 3}}, r, standard_types);
    CompileOptions compile;
    compile.threads = 1;
    const auto backend = cpu_with_fallback();
    train::Trainer trainer(graphs, all, *backend, compile, l);
    for (int i = 0; i < 6; ++i) {
      const double loss = trainer.step().loss;
      if (ranks.rank() == 0) losses.push_back(loss);
    }
  });
  return losses;
}

void require_near(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]).epsilon(1e-5));
}

}  // namespace

TEST_CASE("a sample loses the same whatever rank and portion it is in") {
  const std::vector<double> whole = losses_of({});
  require_near(losses_of({.ranks = 2}), whole);
  require_near(losses_of({.accumulate = 2}), whole);
  require_near(losses_of({.ranks = 2, .accumulate = 4}), whole);
  CHECK(losses_of({.recompute = "sqrt"}) == whole);
  const std::vector<double> off = losses_of({}, "off"), half = losses_of({}, "0.5"), other = losses_of({.seed = 1});
  CHECK(std::set<double>{whole[0], off[0], half[0]}.size() == 3);
  CHECK(losses_of({}, "0.25") == whole);
  CHECK(other[0] != whole[0]);
}

TEST_CASE("masks change from epoch to epoch, and are those of the keys") {
  const MemoryData all = data();
  const Net net = network();
  const train::TrainingGraphs graphs = train::make_graphs(net.model, {{4, 3}}, recipe(), standard_types);
  CHECK(graphs.dropouts.nodes == 1);
  CHECK(graphs.dropouts.least == 0.25);
  train::FeedSettings settings{4, Type::tensor(DType::kF32, Dims{4, 1})};
  settings.dropout_keys = true;
  train::Feed feed(all, settings);
  std::set<int64_t> seen;
  for (int k = 0; k < 12; ++k) {
    const std::vector<Datum> batch = feed.next();
    REQUIRE(batch.size() == 3);
    for (const int64_t key : batch[2].tensor().span<int64_t>()) seen.insert(key);
  }
  CHECK(seen.size() == 2 * 24 + 12);  // each sample in each epoch, and each update
}

TEST_CASE("the samples of a batch are found along any axis") {
  Net net;
  Value* x = net.graph().add_input("x", Type::tensor(DType::kF32, SymDims{Dim::symbol("N"), 4, 3}));
  Value* w = net.graph().add_constant("w", uniform({3, 1}, -1, 1));
  Value* p = net.graph().add_constant("p", uniform({1, 4, 3}, -1, 1));
  const auto drop = [&](Value* v) { return net.op("Dropout", {v, net.constant(tensor({}, {0.5}))}); };
  Value* rows = net.op("Reshape", {drop(net.op("Add", {x, drop(p)})), net.constant(Tensor::ints({-1, 3}))});
  Value* turned = net.op("Transpose", {net.op("Reshape", {drop(rows), net.constant(Tensor::ints({-1, 4, 3}))})},
                         {{"perm", std::vector<int64_t>{1, 0, 2}, {}}});
  net.output(net.op("ReduceMean", {net.op("MatMul", {drop(turned), w}), net.constant(Tensor::ints({0, 2}))},
                    {{"keepdims", int64_t{0}, {}}}));
  infer(net.model, standard_types);
  const train::TrainingGraphs graphs = train::make_graphs(net.model, {{4, 4, 3}}, recipe(), standard_types);
  CHECK(verify(graphs.gradients).empty());
  std::vector<int64_t> axes;
  for (const Node* node : graphs.gradients.graph->nodes())
    if (node->op == "SeededDropout" && axes.size() < 4) axes.push_back(std::get<int64_t>(node->attr("axis")->value));
  CHECK(axes == std::vector<int64_t>{-1, 0, 0, 1});
}

TEST_CASE("a mask that somebody reads is that of the elements that are kept") {
  Model model = fixture(R"(g (float[N,3] x, float[3,64] W) => (float[N,64] y) {
    r = Constant <value_float = 0.5> ()  h = MatMul (x, W)  d, m = Dropout (h, r)  s = Div (d, h)
    f = Cast <to = 1> (m)  t = Add (f, f)  y = Sub (s, t)
  })");
  infer(model, standard_types);
  for (const char* dropout : {"model", "off"}) {
    const train::TrainingGraphs graphs = train::make_graphs(model, {{4, 3}}, recipe(dropout), standard_types);
    CHECK(verify(graphs.gradients).empty());
    CHECK(listed_ops(graphs.gradients).find(" Dropout") == std::string::npos);
  }
  const train::TrainingGraphs graphs = train::make_graphs(model, {{4, 3}}, recipe(), standard_types);
  const MemoryData all(uniform({8, 3}, 1, 2), Tensor::zeros(DType::kF32, {8, 64}));
  train::LoopSettings l;
  l.batch = 4;
  l.schedule = {train::find_schedule("constant"), 0.02, 100, 0};
  const auto backend = cpu_with_fallback();
  train::Trainer trainer(graphs, all, *backend, {}, l);
  CHECK(trainer.step().loss < 1e-10);
}

TEST_CASE("the model that was trained keeps its nodes, and training without dropout has none") {
  Net net = network();
  const std::string before = listed_ops(net.model);
  const train::TrainingGraphs graphs = train::make_graphs(net.model, {{4, 3}}, recipe("off"), standard_types);
  CHECK(graphs.dropouts.keys.empty());
  CHECK(listed_ops(graphs.gradients).find("Dropout") == std::string::npos);
  train::store_weights(net.model, graphs);
  CHECK(listed_ops(net.model) == before);
}

TEST_CASE("shares of dropout that make no sense are refused") {
  for (const char* text : {"", "on", "1", "-0.1", "nan"})
    CHECK(thrown_by([&] { train::parse_dropout(text); }).code == Code::kUsage);
  Net plain;
  plain.output(plain.op("MatMul", {plain.input({4, 3}), plain.graph().add_constant("w", uniform({3, 1}, -1, 1))}));
  infer(plain.model, standard_types);
  const auto make = [&](const char* dropout) {
    return train::make_graphs(plain.model, {{4, 3}}, recipe(dropout), standard_types);
  };
  CHECK(says(thrown_by([&] { make("0.5"); }), "the model has no Dropout"));
  CHECK(make("off").dropouts.nodes == 0);
  CHECK(make("model").dropouts.nodes == 0);
}

}  // namespace mlopt::test
