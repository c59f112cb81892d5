#include "prune/prune.h"

#include <algorithm>
#include <cmath>

#include "backends/reference/backend.h"
#include "core/base/error.h"
#include "core/onnx/tools.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/memory_data.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thrown.h"

using namespace mlopt;
using prune::parse_spec;
using prune::Pruned;

namespace {

constexpr const char* kTwo = R"(g (float[N,8] x, float[8,16] V, float[16,4] W) => (float[N,4] y) {
  [first] a = MatMul (x, V)
  r = Relu (a)
  [second] y = MatMul (r, W)
})";

Pruned pruned(const Model& model, const std::string& spec) { return prune::prune(model, parse_spec(spec), {}); }

std::vector<float> weight(const Model& model, const char* name) {
  return to_floats(*model.graph->find(name)->constant);
}

int64_t zeros(const std::vector<float>& numbers) { return std::count(numbers.begin(), numbers.end(), 0.0F); }

}  // namespace

TEST_CASE("half of the weights of each layer are zero, the least, and the others as they were") {
  const Model source = test::fixture(kTwo);
  const Pruned made = pruned(source, "magnitude:sparsity=0.5;allocation=uniform");
  REQUIRE(made.layers.size() == 2);
  for (const char* name : {"V", "W"}) {
    std::vector<float> before = weight(source, name), after = weight(made.model, name);
    CHECK(zeros(after) == static_cast<int64_t>(after.size()) / 2);
    std::vector<float> sorted = before;
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < after.size(); ++i)
      CHECK(after[i] == (before[i] < sorted[sorted.size() / 2] ? 0 : before[i]));
  }
  CHECK(made.layers[1].zeros == 32);
  CHECK(made.layers[1].dims == Dims{16, 4});
}

TEST_CASE("what a normalization multiplied an output by does not change what global removes") {
  const Model source = test::fixture(kTwo);
  Model scaled = clone(source);
  Tensor& v = *scaled.graph->find("V")->constant;
  for (int64_t i = 0; i < v.size(); ++i) v.mutable_data<float>()[i] *= 0.25F + static_cast<float>(i % 16);
  for (const char* spec : {"magnitude:sparsity=0.4;allocation=global"}) {
    const auto a = weight(pruned(source, spec).model, "V"), b = weight(pruned(scaled, spec).model, "V");
    for (size_t i = 0; i < a.size(); ++i) CHECK((a[i] == 0) == (b[i] == 0));
  }
  const auto plain = "magnitude:sparsity=0.4;allocation=global;scale=none";  // is not immune
  CHECK(zeros(weight(pruned(source, plain).model, "V")) != zeros(weight(pruned(scaled, plain).model, "V")));
}

TEST_CASE("a threshold removes what is less") {
  const Model source = test::fixture(kTwo);
  const auto before = weight(source, "W"), after = weight(pruned(source, "magnitude:threshold=0.75").model, "W");
  for (size_t i = 0; i < after.size(); ++i) CHECK(after[i] == (before[i] < 0.75F ? 0 : before[i]));
  CHECK(zeros(after) > 0);
}

TEST_CASE("weights that are no numbers are refused, unless they are left out") {
  for (const float bad : {NAN, INFINITY}) {
    Model source = test::fixture(kTwo);
    source.graph->find("V")->constant->mutable_data<float>()[3] = bad;
    const Error error = test::thrown_by([&] { pruned(source, "magnitude:granularity=2:4"); });
    CHECK(error.code == Code::kBadInput);
    CHECK(test::says(error, "NaN or infinity, which cannot be compared: V"));
    CHECK(test::says(error, "--skip V"));
    for (const char* name : {"first", "V"})
      CHECK(pruned(source, fmt::format("magnitude:sparsity=0.5;skip={}", name)).layers.size() == 1);
  }
}

TEST_CASE("zeros that were there before are those of the model that a source was made of") {
  const Model original = test::fixture(kTwo);
  const Model source = pruned(original, "magnitude:sparsity=0.5").model;
  prune::Means means;
  means.before = &original;
  const Pruned made = prune::prune(source, parse_spec("magnitude:sparsity=0.5"), means);
  for (const prune::PrunedLayer& layer : made.layers) CHECK(layer.zeros_before == 0);
  CHECK(made.warnings.empty());
  CHECK(pruned(source, "magnitude:sparsity=0.5").warnings.size() == 1);
}

TEST_CASE("a pattern holds in every group") {
  const Pruned made = pruned(test::fixture(kTwo), "magnitude:granularity=1:4");
  const auto w = weight(made.model, "W");  // inputs by outputs: a group lies down a column
  for (size_t column = 0; column < 4; ++column)
    for (size_t group = 0; group < 4; ++group) {
      int64_t left = 0;
      for (size_t i = 0; i < 4; ++i) left += w[(group * 4 + i) * 4 + column] != 0;
      CHECK(left == 1);
    }
  const Pruned three = pruned(test::fixture(kTwo), "magnitude:granularity=2:16");
  CHECK(three.left.at("first") == "its 8 inputs are no multiple of 16");
  CHECK(three.layers.size() == 1);
}

TEST_CASE("blocks go as one") {
  const Pruned made = pruned(test::fixture(kTwo), "magnitude:granularity=block=4x2;sparsity=0.25;allocation=uniform");
  const auto v = weight(made.model, "V");  // [8 inputs, 16 outputs]
  int64_t gone = 0;
  for (size_t input = 0; input < 8; input += 2)
    for (size_t output = 0; output < 16; output += 4) {
      int64_t inside = 0;
      for (size_t i = 0; i < 8; ++i) inside += v[(input + i % 2) * 16 + output + i / 2] == 0;
      CHECK((inside == 0 || inside == 8));
      gone += inside == 8;
    }
  CHECK(gone == 4);
}

TEST_CASE("random follows from the seed") {
  const Model source = test::fixture(kTwo);
  const auto masked = [&](const char* spec) { return weight(pruned(source, spec).model, "V"); };
  CHECK(masked("random:sparsity=0.5;seed=1") == masked("random:sparsity=0.5;seed=1"));
  CHECK(masked("random:sparsity=0.5;seed=1") != masked("random:sparsity=0.5;seed=2"));
  CHECK(zeros(masked("random:sparsity=0.5;seed=2")) == 64);
}

TEST_CASE("what is pruned already counts, and is said") {
  const Model source = test::fixture(kTwo);
  const Pruned half = pruned(source, "magnitude:sparsity=0.5;allocation=uniform");
  const Pruned again = pruned(half.model, "random:sparsity=0.5");
  CHECK(weight(again.model, "V") == weight(half.model, "V"));
  REQUIRE(again.warnings.size() == 1);
  CHECK(test::contains(again.warnings[0], "as many zeros already"));
  const Pruned more = pruned(half.model, "random:sparsity=0.75");
  CHECK(zeros(weight(more.model, "V")) == 96);
  const Pruned all = pruned(source, "magnitude:sparsity=1");
  CHECK(test::contains(all.warnings.at(0), "nothing of first is left"));
}

TEST_CASE("criteria that look at data need them, and keep what was pruned") {
  const Model source = test::fixture(kTwo);
  CHECK(test::contains(test::error_of([&] { pruned(source, "wanda:sparsity=0.5"); }), "wanda needs data"));
  CHECK(test::contains(test::error_of([&] { pruned(source, "magnitude:sparsity=0.5;recover=lstsq"); }),
                       "lstsq needs data"));
  const Pruned quarter = pruned(source, "magnitude:sparsity=0.25;allocation=uniform");
  const test::MemoryData data(test::uniform({40, 8}, -1, 1), std::nullopt);
  const std::unique_ptr<Backend> backend = reference_backend();
  const Runner runner{*backend, inline_functions};
  prune::Means means;
  means.runner = &runner;
  means.data = &data;
  for (const char* spec :
       {"wanda:sparsity=0.5", "wanda:granularity=2:4", "obs:sparsity=0.5;allocation=global", "sparsegpt:sparsity=0.5",
        "sparsegpt:granularity=2:4", "sparsegpt:sparsity=0.5;allocation=lamp", "wanda:sparsity=0.5;recover=lstsq"}) {
    INFO(spec);
    const Pruned made = prune::prune(quarter.model, parse_spec(spec), means);
    CHECK(made.samples == 40);
    int64_t all = 0;
    for (const char* name : {"V", "W"}) {
      const auto before = weight(quarter.model, name), after = weight(made.model, name);
      for (size_t i = 0; i < before.size(); ++i)
        if (before[i] == 0) CHECK(after[i] == 0);
      all += zeros(after);
    }
    CHECK(std::abs(all - 96) <= 12);
  }
}

TEST_CASE("weights that wait in files are those that would be in memory") {
  const Model source = test::fixture(kTwo);
  const test::MemoryData data(test::uniform({40, 8}, -1, 1), std::nullopt);
  const std::unique_ptr<Backend> backend = reference_backend();
  const Runner runner{*backend, inline_functions};
  const test::TempDir folder;
  prune::Means means;
  means.runner = &runner;
  means.data = &data;
  for (const char* spec : {"wanda:sparsity=0.5", "sparsegpt:sparsity=0.5", "magnitude:sparsity=0.5"}) {
    means.spill.clear();
    const Pruned held = prune::prune(source, parse_spec(spec), means);
    means.spill = folder.path().string();
    const Pruned spilled = prune::prune(source, parse_spec(spec), means);
    for (const char* name : {"V", "W"}) {
      CHECK(spilled.model.graph->find(name)->constant->is_view());
      CHECK(weight(spilled.model, name) == weight(held.model, name));
    }
  }
}

TEST_CASE("a fit brings the outputs nearer to the source's") {
  const Model source = test::fixture(kTwo);
  const Tensor x = test::uniform({60, 8}, -1, 1);
  const test::MemoryData data(x, std::nullopt);
  const std::unique_ptr<Backend> backend = reference_backend();
  const Runner runner{*backend, inline_functions};
  prune::Means means;
  means.runner = &runner;
  means.data = &data;
  const auto outputs = [&](const Model& m) {
    return to_floats(runner.compile(m)->run(std::vector<Datum>{x})[0].tensor());
  };
  const auto distance = [&](const char* spec) {
    const auto a = outputs(source), b = outputs(prune::prune(source, parse_spec(spec), means).model);
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += std::pow(static_cast<double>(a[i]) - b[i], 2);
    return sum;
  };
  CHECK(distance("magnitude:sparsity=0.5;recover=lstsq") < 0.5 * distance("magnitude:sparsity=0.5"));
  CHECK(distance("magnitude:sparsity=0.8;recover=lstsq;iterations=4") <
        distance("magnitude:sparsity=0.8;recover=lstsq"));
  const Pruned slowly = prune::prune(source, parse_spec("magnitude:sparsity=0.75;recover=lstsq;iterations=3"), means);
  CHECK(zeros(weight(slowly.model, "V")) + zeros(weight(slowly.model, "W")) == 144);
  CHECK(slowly.layers.size() == 2);
  CHECK(slowly.layers[0].zeros_before == 0);
}

TEST_CASE("weights in branches and loops are pruned as others, or said to stay") {
  const Model source = test::fixture(R"(g (float[2,4] x, bool c, float[4,16] V, float[16,4] W) => (float[2,4] y) {
    a = If (c) <
      then_branch = t () => (float[2,4] p) {
        th = MatMul (x, V)
        p = MatMul (th, W)
      },
      else_branch = e () => (float[2,4] q) { q = Relu (x) }>
    n = Constant <value = int64 {3}> ()
    y = Loop (n, c, a) <body = b (int64 i, bool go, float[2,4] s) => (bool on, float[2,4] r) {
      on = Identity (go)
      A = Constant <value = float[4,2] {1,2,3,4,5,6,7,8}> ()
      B = Constant <value = float[2,4] {1,2,3,4,5,6,7,8}> ()
      lh = MatMul (s, A)
      r = MatMul (lh, B)
    }>
  })");
  CHECK(pruned(source, "magnitude:sparsity=0.5;scale=none").layers.size() == 4);
  const Pruned smaller = pruned(source, "magnitude:granularity=channel;sparsity=0.5;round=none");
  REQUIRE(smaller.groups.size() == 2);
  CHECK(smaller.groups[0].layers == std::vector<std::string>{"th"});
  CHECK(smaller.groups[0].kept == 8);
  CHECK(smaller.groups[1].layers == std::vector<std::string>{"lh"});
  CHECK(smaller.groups[1].kept == 1);
}

TEST_CASE("what cannot be done yet is said with what can") {
  try {
    pruned(test::fixture(kTwo), "wanda:granularity=channel;sparsity=0.5");
    FAIL("it was done");
  } catch (const Error& e) {
    CHECK(e.code == Code::kUnsupported);
    CHECK(test::contains(e.what(), "one of magnitude, random"));
  }
}
