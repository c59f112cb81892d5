#include "quantize/static_weights.h"

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

namespace {

struct Bench {
  std::unique_ptr<Backend> backend = reference_backend();
  Runner runner{*backend, inline_functions};
  Model source;
  test::MemoryData data;

  Bench(const char* net, Tensor x) : source(test::fixture(net)), data(std::move(x), std::nullopt) {
    uint64_t seed = 10;
    for (Value* v : source.graph->initializers())
      if (v->constant->rank() >= 2) v->constant = test::uniform(v->constant->dims(), -0.3, 0.3, DType::kF32, ++seed);
  }

  quantize::Quantized run(const std::string& spec, bool generated = false) const {
    quantize::Means means;
    means.runner = &runner;
    means.passes = test::pass_context();
    means.data = &data;
    means.generated = generated;
    return quantize::quantize(source, quantize::parse_spec(spec), means);
  }

  /// Of the output, on the data.
  double sqnr(const Model& model) const {
    const Batch batch = data.batch(0, data.size());
    const auto run = [&](const Model& m) { return backend->compile(m, {})->run(batch.inputs)[0].tensor(); };
    return difference(run(model), run(source)).sqnr_db;
  }
};

/// Channels that move together, so that errors can make up for each other.
Tensor correlated(Dims dims) {
  Tensor x = test::uniform(dims, 0, 0.4);
  const Tensor common = test::uniform({dims[0]}, 0, 2, DType::kF32, 5);
  const int64_t inner = x.size() / dims[0];
  for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] += common.data<float>()[i / inner];
  return x;
}

constexpr const char* kConvs =
    R"(g (float[N,16,6,6] x, float[32,16,3,3] V, float[32] A, float[32,1,3,3] D, float[32,32,1,1] W)
    => (float[N,32,2,2] y) {
  a = Conv (x, V, A)
  r = Relu (a)
  d = Conv <group = 32> (r, D)
  s = Relu (d)
  y = Conv (s, W)
})";

}  // namespace

TEST_CASE("codes that are chosen by what layers are given leave less error than the nearest in the same steps") {
  const Bench bench(kConvs, correlated({20, 16, 6, 6}));
  for (const char* format : {"w3a16", "w4a8", "w4a8:per_tensor"}) {
    INFO(format);
    const std::string text = std::string(format) + (std::string(format).find(':') == std::string::npos ? ":" : ";");
    const double plain = bench.sqnr(bench.run(format).model);
    for (const char* method : {"gptq", "adaround"}) {
      INFO(method);
      CHECK(bench.sqnr(bench.run(text + "method=" + method).model) > plain + 1.5);
    }
  }
}

TEST_CASE("the steps and shapes of chosen codes are those of the nearest, and widths that have none stay") {
  const Bench bench(kConvs, correlated({20, 16, 6, 6}));
  const auto parts = [&](const std::string& spec) {
    const Model model = bench.run(spec).model;
    const Graph& graph = *model.graph;
    return std::pair(*graph.find("V_quantized")->constant, *graph.find("V_scale")->constant);
  };
  for (const std::string format : {"w4a8", "w8a8", "w2a8"}) {
    const auto plain = parts(format), chosen = parts(format + ":method=gptq");
    CHECK(plain.first.dtype() == chosen.first.dtype());
    CHECK(plain.first.dims() == chosen.first.dims());
    CHECK(to_floats(plain.second) == to_floats(chosen.second));
    CHECK(to_floats(plain.first) != to_floats(chosen.first));
    float most = 0;
    const std::vector<float> a = to_floats(plain.first), b = to_floats(chosen.first);
    for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::fabs(a[i] - b[i]));
    CHECK(most <= 3);
  }
  CHECK(to_floats(parts("w1a8").first) == to_floats(parts("w1a8:method=gptq").first));
  CHECK(to_floats(parts("w16a16").first) == to_floats(parts("w16a16:method=gptq").first));
  CHECK(bench.run("w4a8:method=gptq").fell_back.empty());
  const quantize::Fallbacks left = bench.run("w1a8:method=gptq").fell_back;
  CHECK(left.size() == 3);
  CHECK(left.begin()->second == "to nearest, for it has 1 bit, or more than 8");
}

TEST_CASE("no two chosen codes beside each other leave int16 where a processor adds their products there") {
  Tensor x = test::uniform({64, 32}, 0, 1);  // the second half is nearly a small share of the first
  for (int64_t i = 0; i < x.size(); ++i)
    if (i % 32 >= 16) x.mutable_data<float>()[i] = 0.05f * x.data<float>()[i - 16] + 0.001f * x.data<float>()[i];
  const Bench bench("g (float[N,32] x, float[32,48] W) => (float[N,48] y) { y = MatMul (x, W) }", std::move(x));
  auto* w = bench.source.graph->find("W")->constant->mutable_data<float>();
  for (int64_t k = 17; k < 32; k += 2) std::copy_n(w + (k - 1) * 48, 48, w + k * 48);
  for (const char* method : {"mse", "gptq", "quantease", "adaround", "brecq"}) {
    INFO(method);
    const Model model = bench.run(std::string("w8a8:target=ort:x86-avx2;method=") + method).model;
    const std::vector<float> codes = to_floats(*model.graph->find("W_quantized")->constant);
    for (size_t i = 0; i < codes.size(); ++i) {
      CHECK(codes[i] >= -127);
      if (i / 48 % 2 == 0) CHECK(std::fabs(codes[i] + codes[i + 48]) <= 128);
    }
  }
}

TEST_CASE("smoothquant leaves less error where a feature of the activations is large") {
  const Bench bench(R"(g (float[N,8,32] x, float[32] G, float[32,48] V, float[48,32] W) => (float[N,8,32] y) {
      n = LayerNormalization (x, G)
      a = MatMul (n, V)
      b = Gelu (a)
      y = MatMul (b, W)
    })",
                    test::uniform({16, 8, 32}, -1, 1));
  bench.source.graph->find("G")->constant->mutable_data<float>()[7] = 60;
  for (const char* format : {"w8a8", "w8a8-dynamic"}) {
    const std::string text = format;
    CHECK(bench.sqnr(bench.run(text + ":method=smoothquant").model) > bench.sqnr(bench.run(text).model) + 3);
    const std::string said = test::error_of([&] { bench.run(text + ":method=smoothquant", true); });
    CHECK(test::contains(said, "smoothquant looks at what layers are given"));
  }
  CHECK(test::contains(test::error_of([&] { bench.run("w4a8:method=adaround", true); }), "--data"));
}

TEST_CASE("smoothquant finds normalizations that the opset asked for lacks") {
  const Bench bench(
      "g (float[N,8,32] x, float[32] G, float[32,48] V) => (float[N,8,48] y) { n = LayerNormalization (x, G) "
      " y = MatMul (n, V) }",
      test::uniform({16, 8, 32}, -1, 1));
  bench.source.graph->find("G")->constant->mutable_data<float>()[7] = 60;
  const quantize::Quantized made = bench.run("w8a8:method=smoothquant;opset=13");
  CHECK(made.model.opset() == 13);
  CHECK(bench.sqnr(made.model) > bench.sqnr(bench.run("w8a8:opset=13").model) + 3);
}

TEST_CASE("smoothquant that divides nothing says no more than that") {
  const Bench bench("g (float[N,32] x, float[32,48] V) => (float[N,48] y) { y = MatMul (x, V) }",
                    test::uniform({16, 32}, -1, 1));
  const std::vector<std::string> warnings = bench.run("w8a8:method=smoothquant").warnings;
  CHECK(std::count(warnings.begin(), warnings.end(),
                   "smoothquant changed nothing: no product's input can take a division that lessens the error") == 1);
}
