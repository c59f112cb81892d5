#include "quantize/outliers.h"

#include <algorithm>
#include <cmath>

#include "backends/reference/backend.h"
#include "core/onnx/tools.h"
#include "core/tensor/cast.h"
#include "quantize/quantize.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/memory_data.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using namespace mlopt::quantize;

namespace {

/// Two products behind one another whose columns 3 and 17 are large.
constexpr const char* kProducts = R"(
  g (float[N,64] x, float[64,48] W, float[40,48] G, float[40] C) => (float[N,40] y) {
    [first] m = MatMul (x, W)
    t = Tanh (m)
    [second] y = Gemm <transB = 1> (t, G, C)
  })";

struct Bench {
  std::unique_ptr<Backend> backend = reference_backend();
  Runner runner{*backend, inline_functions};
  Model source;
  Tensor inputs;

  Bench(const char* text, Dims dims) : source(test::fixture(text)), inputs(test::uniform(dims, -1, 1)) {
    uint64_t seed = 20;
    for (Value* v : source.graph->initializers())
      v->constant = test::uniform(v->constant->dims(), -0.2, 0.2, DType::kF32, ++seed);
  }

  /// Makes input channel `channel` of a weight larger; `step` numbers apart, `inner` together.
  void enlarge(const char* name, int64_t channel, int64_t step, int64_t inner, float by) {
    Tensor& w = *source.graph->find(name)->constant;
    float* numbers = w.mutable_data<float>();
    for (int64_t i = channel * inner; i < w.size(); i += step)
      for (int64_t k = 0; k < inner; ++k) numbers[i + k] *= by;
  }

  Quantized run(const std::string& spec, bool with_data = false) const {
    const test::MemoryData data(inputs, std::nullopt);
    Means means;
    means.runner = &runner;
    means.passes = test::pass_context();
    means.data = with_data ? &data : nullptr;
    return quantize::quantize(source, parse_spec(spec), means);
  }

  double sqnr(const Model& model) const {
    const std::vector<Datum> given = {inputs};
    const auto run = [&](const Model& m) { return backend->compile(m, {})->run(given)[0].tensor(); };
    return difference(run(model), run(source)).sqnr_db;
  }
};

Bench with_large_columns() {
  Bench bench(kProducts, {30, 64});
  for (const int64_t c : {3, 17}) {
    Tensor& w = *bench.source.graph->find("W")->constant;  // [inputs, outputs]
    float* numbers = w.mutable_data<float>();
    for (int64_t r = 0; r < 48; ++r) numbers[c * 48 + r] *= 30;
    bench.enlarge("G", c, 48, 1, 30);
  }
  return bench;
}

}  // namespace

TEST_CASE("a model whose outliers are split off computes what it did") {
  Bench bench = with_large_columns();
  Model split = clone(bench.source);
  const SplitOff done = split_outliers(split, parse_spec("w4:outliers=4%"), nullptr);
  CHECK(done.products == std::vector<std::string>{"first_outliers", "second_outliers"});
  CHECK(bench.sqnr(split) > 110);
  int found = 0;
  for (const Node* node : split.graph->nodes())
    if (node->is("Gather")) {
      const Tensor& at = *node->input(1)->known_constant();
      found += at.size() >= 2 && at.data<int64_t>()[0] == 3 && (at.data<int64_t>()[1] == 17);
    }
  CHECK(found >= 1);
}

TEST_CASE("columns of outliers in float give weights of few bits back what these have stretched") {
  const Bench bench = with_large_columns();
  for (const std::string format : {"w3", "w4g32", "nf4", "w2", "codebook2:per_tensor", "w1"}) {
    INFO(format);
    const std::string join = format.find(':') == std::string::npos ? ":" : ";";
    const Quantized plain = bench.run(format), made = bench.run(format + join + "outliers=4%");
    CHECK(plain.split == 0);
    CHECK(made.split == 2);
    CHECK(bench.sqnr(made.model) > bench.sqnr(plain.model) + 5);
  }
}

TEST_CASE("large activations in float leave the others finer steps") {
  Bench bench(kProducts, {30, 64});
  auto* x = bench.inputs.mutable_data<float>();
  for (int64_t r = 0; r < 30; ++r) x[r * 64 + 9] *= 100;
  for (const std::string format : {"w8a8", "w8a8-dynamic"}) {
    INFO(format);
    const std::string spec = format + ":outliers=2%";
    const Quantized plain = bench.run(format, true), made = bench.run(spec, true);
    CHECK(made.split >= 1);
    CHECK(bench.sqnr(made.model) > bench.sqnr(plain.model) + 10);
    CHECK(test::contains(test::error_of([&] { bench.run(spec, false); }), "data"));
  }
}

TEST_CASE("a layer that is given zeros has no outliers") {
  Bench bench(kProducts, {30, 64});
  bench.inputs = Tensor::zeros(DType::kF32, {30, 64});
  Model split = clone(bench.source);
  const test::MemoryData data(bench.inputs, std::nullopt);
  const Looking looking{&bench.runner, &data, 30};
  CHECK(split_outliers(split, parse_spec("w8a8:outliers=2%;only=first"), &looking).products.empty());
}

TEST_CASE("a product of outliers stays float whatever its layer is called") {
  Bench bench("g (float[N,512] x, float[512,32] W) => (float[N,32] y) { y = MatMul (x, W) }", {8, 512});
  bench.source.graph->nodes()[0]->name = "mm[0]";
  auto* x = bench.inputs.mutable_data<float>();
  for (int64_t i = 5; i < bench.inputs.size(); i += 32) x[i] *= 100;
  const Quantized made = bench.run("w8a8:outliers=4%", true);
  CHECK(made.split == 1);
  CHECK(made.layers == 1);
  for (const Node* node : made.model.graph->nodes())
    if (node->name == "mm[0]_outliers") CHECK(node->input(1)->known_constant());
}

TEST_CASE("kernels that round activations in blocks are not given the outliers") {
  Bench bench(kProducts, {30, 64});
  auto* x = bench.inputs.mutable_data<float>();
  for (int64_t r = 0; r < 30; ++r) x[r * 64 + 9] *= 100;
  const auto masks = [&](const std::string& spec, bool planned = false) {
    const test::MemoryData data(bench.inputs, std::nullopt);
    const Looking looking{&bench.runner, &data, 30};
    Model split = clone(bench.source);
    CHECK(split_outliers(split, parse_spec(spec + ";only=first"), &looking, planned).products.size() == 1);
    CHECK(bench.sqnr(split) > 110);
    const std::vector<Node*> nodes = split.graph->nodes();
    return std::count_if(nodes.begin(), nodes.end(), [](const Node* n) { return n->is("Mul"); });
  };
  CHECK(masks("w4g32:outliers=2%") == 1);
  CHECK(masks("w4g32:outliers=2%;accuracy_level=0") == 0);
  CHECK(masks("w4g32:outliers=2%;target=onnx") == 0);
  CHECK(masks("w4g32:outliers=2%;target=onnx", true) == 1);
}

TEST_CASE("convolutions take their outliers by channels of pictures") {
  Bench bench(R"(
    g (float[N,32,6,6] x, float[24,32,3,3] V, float[24] A) => (float[N,24,3,3] y) {
      [stem] y = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (x, V, A)
    })",
              {2, 32, 6, 6});
  bench.enlarge("V", 5, int64_t{32} * 9, 9, 40);
  for (const std::string format : {"w3", "codebook2"}) {
    const Quantized plain = bench.run(format), made = bench.run(format + ":outliers=3%");
    CHECK(made.split == 1);
    CHECK(bench.sqnr(made.model) > bench.sqnr(plain.model) + 10);
  }
}

TEST_CASE("layers without outliers stay whole, and it is said") {
  const Bench bench(kProducts, {30, 64});
  const Quantized made = bench.run("w8:outliers=2%", true);
  CHECK(made.split == 0);
  CHECK(std::any_of(made.warnings.begin(), made.warnings.end(),
                    [](const std::string& w) { return test::contains(w, "no layer was split"); }));
  CHECK(bench.run("w4:outliers=0.1%").split == 0);  // less than a channel
}

TEST_CASE("data say which channels matter: the same weights, another choice") {
  Bench bench(kProducts, {30, 64});
  auto* x = bench.inputs.mutable_data<float>();
  for (int64_t r = 0; r < 30; ++r) x[r * 64 + 40] *= 50;
  const test::MemoryData data(bench.inputs, std::nullopt);
  const Looking looking{&bench.runner, &data, 30};
  Model model = clone(bench.source);
  split_outliers(model, parse_spec("w3:outliers=1.6%;only=first"), &looking);
  std::vector<int64_t> chosen;
  for (const Node* node : model.graph->nodes())
    if (node->is("Gather")) chosen = to_ints(*node->input(1)->constant);
  CHECK(chosen == std::vector<int64_t>{40});
}
