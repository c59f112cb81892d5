#include "backends/cpu/backend.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <thread>

#include "core/tensor/compare.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

/// Conv and Relu, pooled, then a matrix product: [N, 3, H, W] -> [N, 5].
Net classifier() {
  Net net;
  Type type;
  type.kind = Type::Kind::kTensor;
  type.dtype = DType::kF32;
  type.dims = SymDims{Dim::symbol("N"), 3, Dim::symbol("H"), Dim::symbol("W")};
  Value* x = net.graph().add_input("x", type);
  Value* w = net.graph().add_constant("w", uniform({8, 3, 3, 3}, -1, 1));
  Value* y = net.op("Relu", {net.op("Conv", {x, w, net.constant(uniform({8}, -1, 1))})});
  y = net.op("Flatten", {net.op("GlobalAveragePool", {y})});
  net.output(net.op("MatMul", {y, net.constant(uniform({8, 5}, -1, 1))}));
  return net;
}

Tensor picture(int64_t i) {
  return uniform({1 + i % 3, 3, 8 + i % 4, 9}, -1, 1, DType::kF32, static_cast<uint64_t>(i));
}

}  // namespace

TEST_CASE("one executable runs for several threads at once, whatever the shapes") {
  const Net net = classifier();
  const auto plan = cpu_with_fallback()->compile(net.model, {});
  std::vector<Tensor> expected;
  constexpr int64_t kPictures = 12, kRounds = 20, kThreads = 4;
  for (int64_t i = 0; i < kPictures; ++i)
    expected.push_back(cpu_with_fallback()->compile(net.model, {})->run(std::vector<Datum>{picture(i)})[0].tensor());
  REQUIRE(mismatch(expected[0], expected[3], 0, 0));  // or the threads would prove nothing
  std::vector<std::thread> threads;
  std::vector<int> wrong(kThreads);
  for (int64_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int64_t i = t; i < t + kRounds; ++i) {
        const Tensor got = plan->run(std::vector<Datum>{picture(i % kPictures)})[0].tensor();
        wrong[static_cast<size_t>(t)] +=
            mismatch(got, expected[static_cast<size_t>(i % kPictures)], 1e-5, 1e-5).has_value();
      }
    });
  for (std::thread& thread : threads) thread.join();
  REQUIRE(wrong == std::vector<int>(kThreads, 0));
}

TEST_CASE("values whose order does not matter hold the same numbers, however they are computed") {
  const Net net = classifier();
  CompileOptions options;
  for (const Node* node : net.model.graph->nodes()) options.taps.push_back(node->output(0)->name);
  std::map<std::string, std::vector<float>> seen[2];
  for (const bool unordered : {false, true}) {
    options.taps_unordered = unordered;
    const auto plan = cpu_with_fallback()->compile(net.model, options);
    RunHooks hooks;
    hooks.on_tap = [&](std::string_view name, const Datum& value) {
      const auto numbers = value.tensor().span<float>();
      auto& all = seen[unordered][std::string(name)];
      all.insert(all.end(), numbers.begin(), numbers.end());
    };
    const Datum pictures = uniform({8, 3, 64, 64}, -1, 1, DType::kF32, 1);  // so many run in pieces
    const auto outputs = plan->run(std::vector{pictures}, hooks);
    REQUIRE(outputs.size() == 1);
    CHECK(plan->plan_info(std::vector{pictures}).has_value() == unordered);
  }
  REQUIRE(seen[0].size() == options.taps.size());
  REQUIRE(seen[1].size() == options.taps.size());
  for (auto& [name, expected] : seen[0]) {
    std::vector<float>& found = seen[1][name];
    REQUIRE(found.size() == expected.size());
    std::sort(expected.begin(), expected.end());
    std::sort(found.begin(), found.end());
    const auto differ = [](float a, float b) { return !(std::fabs(a - b) <= 1e-4f); };
    INFO(name);
    CHECK(std::mismatch(found.begin(), found.end(), expected.begin(), std::not_fn(differ)).first == found.end());
  }
}

TEST_CASE("values that are watched stay what they are") {
  const Net net = classifier();
  const std::string conv = net.model.graph->nodes()[0]->output(0)->name;
  CompileOptions options;
  options.taps = {conv};
  const auto plan = cpu_with_fallback()->compile(net.model, options);
  Tensor seen;
  RunHooks hooks;
  hooks.on_tap = [&](std::string_view name, const Datum& value) {
    REQUIRE(name == conv);
    seen = value.tensor();
  };
  plan->run(std::vector<Datum>{picture(0)}, hooks);
  REQUIRE(seen.dims() == Dims{1, 8, 6, 7});
}

TEST_CASE("nodes that another backend runs are named") {
  Net net;
  Value* x = net.input({2, 3});
  net.output(net.op("Relu", {net.op("Sinh", {x})}));
  const auto plan = cpu_with_fallback()->compile(net.model, {});
  REQUIRE(plan->fallback_nodes().size() == 1);
  REQUIRE(plan->fallback_nodes()[0].find("Sinh") != std::string::npos);
  REQUIRE_THROWS_WITH(cpu_backend({})->compile(net.model, {}), Catch::Contains("Sinh"));
}

}  // namespace mlopt::test
