#include "quantize/equalize.h"

#include <cmath>

#include "backends/reference/backend.h"
#include "core/base/rng.h"
#include "core/onnx/tools.h"
#include "core/tensor/cast.h"
#include "quantize/uniform/params.h"
#include "tests/support/catch.h"
#include "tests/support/memory_data.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// Numbers of every size: entry c of axis 0 is `factors[c]` times a normal one.
void fill(Model& model, const std::string& name, const std::vector<float>& factors, uint64_t seed) {
  Tensor& t = *model.graph->find(name)->constant;
  Rng rng(seed);
  const auto inner = static_cast<size_t>(t.size()) / static_cast<size_t>(t.dim(0));
  for (size_t i = 0; i < static_cast<size_t>(t.size()); ++i)
    t.mutable_data<float>()[i] = static_cast<float>(rng.normal()) * factors[i / inner % factors.size()];
}

struct Bench {
  std::unique_ptr<Backend> backend = reference_backend();
  Runner runner{*backend, inline_functions};
  Tensor x;

  explicit Bench(Dims dims) : x(test::uniform(std::move(dims), -1, 1)) {}

  int64_t run(Model& model, bool with_data, const std::string& spec = "w8a8:per_tensor") const {
    const test::MemoryData data(x, std::nullopt);
    const Looking looking{&runner, &data, 128};
    return quantize::equalize(model, quantize::parse_spec(spec), with_data ? &looking : nullptr).pairs;
  }
  Tensor output(const Model& model) const {
    return backend->compile(model, {})->run(std::vector<Datum>{x})[0].tensor();
  }
};

/// The largest magnitude of each entry of an axis.
std::vector<double> ranges(const Model& model, const std::string& name, int axis) {
  const Tensor& t = *model.graph->find(name)->constant;
  const auto inner = static_cast<size_t>(row_major_strides(t.dims())[static_cast<size_t>(axis)]);
  const auto count = static_cast<size_t>(t.dim(axis));
  std::vector<double> most(count);
  const std::vector<float> w = to_floats(t);
  for (size_t i = 0; i < w.size(); ++i)
    most[i / inner % count] = std::max(most[i / inner % count], std::fabs(static_cast<double>(w[i])));
  return most;
}

}  // namespace

TEST_CASE("both weights of a pair get the geometric mean of their ranges in each channel") {
  Model model =
      test::fixture(R"(g (float[N,3,6,6] x, float[4,3,3,3] V, float[4] B, float[5,4,1,1] W) => (float[N,5,4,4] y) {
    a = Conv (x, V, B)
    b = Relu (a)
    y = Conv (b, W)
  })");
  fill(model, "V", {1, 100, 0.01F, 10}, 1);
  const Model source = clone(model);
  const auto rows = ranges(model, "V", 0), columns = ranges(model, "W", 1);
  const Bench bench({5, 3, 6, 6});
  CHECK(bench.run(model, false) == 1);
  const auto now_rows = ranges(model, "V", 0), now_columns = ranges(model, "W", 1);
  for (size_t c = 0; c < 4; ++c) {
    CHECK(now_rows[c] == Approx(std::sqrt(rows[c] * columns[c])).epsilon(1e-3));
    CHECK(now_columns[c] == Approx(now_rows[c]).epsilon(1e-3));
  }
  const Tensor bias = *model.graph->nodes()[0]->input(2)->constant;
  for (size_t c = 0; c < 4; ++c)
    CHECK(static_cast<double>(to_floats(bias)[c]) ==
          Approx(static_cast<double>(to_floats(*source.graph->find("B")->constant)[c]) * now_rows[c] / rows[c]));
  test::require_close(bench.output(model), bench.output(source), 1e-5);
}

TEST_CASE("chains of convolutions, depthwise ones, pooling and features that are flattened compute what they did") {
  Model model = test::fixture(R"(
    g (float[N,3,8,8] x, float[6,3,3,3] V, float[6] A, float[6,1,3,3] D, float[6] B, float[4,6,1,1] P, float[5,16] G,
       float[1] C, float[5,7] H) => (float[N,7] y) {
      a = Conv <pads = [1,1,1,1]> (x, V, A)
      b = Relu (a)
      c = Conv <group = 6> (b, D, B)
      d = LeakyRelu <alpha = 0.1> (c)
      e = MaxPool <kernel_shape = [2,2], strides = [3,3]> (d)
      f = Conv (e, P)
      h = Flatten (f)
      i = Gemm <transB = 1> (h, G, C)
      j = Relu (i)
      y = MatMul (j, H)
    })");
  uint64_t seed = 0;
  for (const char* w : {"V", "D", "P", "G", "H"}) fill(model, w, {1, 30, 0.1F, 5, 0.02F}, ++seed);
  const Model source = clone(model);
  const Bench bench({4, 3, 8, 8});
  CHECK(bench.run(model, false) == 4);
  test::require_close(bench.output(model), bench.output(source), 1e-4);
  const auto d = ranges(model, "D", 0), p = ranges(model, "P", 1);
  for (size_t c = 0; c < 6; ++c) CHECK(d[c] == Approx(p[c]).epsilon(0.02));
  const auto error = [](const Model& m, const char* name) {
    const Tensor& w = *m.graph->find(name)->constant;
    const auto q = quantize::quantize_weight(w, -1);
    double zeros = 0;
    for (int64_t i = 0; i < q.codes.size(); ++i) zeros += q.codes.data<int8_t>()[i] == 0;
    return zeros;
  };
  CHECK(error(model, "D") < error(source, "D"));
}

TEST_CASE("a Clip lets pass what stays below it, and nothing without data") {
  const char* net = R"(g (float[N,3] x, float[3,4] V, float[4,5] W, float L, float H) => (float[N,5] y) {
    a = MatMul (x, V)
    b = Clip (a, L, H)
    y = MatMul (b, W)
  })";
  Model model = test::fixture(net);
  *model.graph->find("L")->constant = Tensor::scalar(0.0F);
  *model.graph->find("H")->constant = Tensor::scalar(1.0F);
  Tensor& v = *model.graph->find("V")->constant;
  for (int64_t i = 0; i < 12; ++i) v.mutable_data<float>()[i] *= i % 4 == 1 ? 50.0F : i % 4 == 2 ? 1e-3F : 0.2F;
  const Model source = clone(model);
  const Bench bench({40, 3});
  Model blind = clone(model);
  CHECK(bench.run(blind, false) == 0);
  CHECK(bench.run(model, true) == 1);
  test::require_close(bench.output(model), bench.output(source), 1e-5);
  const auto before = ranges(source, "V", 1), now = ranges(model, "V", 1), columns = ranges(source, "W", 0);
  CHECK(now[1] == before[1]);                                               // reaches the limit
  CHECK(now[2] == Approx(std::sqrt(before[2] * columns[2])).epsilon(0.3));  // far below it, and stays so
  CHECK(now[2] > 5 * before[2]);
}

TEST_CASE("what is read elsewhere, changed between, left out or shared keeps its numbers") {
  const char* const nets[] = {
      "a = MatMul (x, V)  b = Relu (a)  c = MatMul (b, W)  y = Add (c, a)",
      "a = MatMul (x, V)  b = Sigmoid (a)  y = MatMul (b, W)",
      "a = MatMul (x, V)  b = Relu (a)  d = MatMul (b, W)  e = Transpose (W)  y = MatMul (d, e)",
      "a = MatMul (x, V)  s = Relu (a)  b = Softmax (s)  y = MatMul (b, W)"};
  const Bench bench({4, 3});
  for (const char* net : nets) {
    INFO(net);
    Model model =
        test::fixture(std::string("g (float[N,3] x, float[3,4] V, float[4,4] W) => (float[N,4] y) { ") + net + " }");
    fill(model, "V", {1, 50, 0.01F}, 1);
    const Model source = clone(model);
    CHECK(bench.run(model, true) == 0);
    CHECK(bench.output(model).data<float>()[0] == bench.output(source).data<float>()[0]);
  }
  Model skipped = test::fixture(
      "g (float[N,3] x, float[3,4] V, float[4,4] W) => (float[N,4] y) { a = MatMul (x, V)  [last] y = MatMul (a, W) }");
  CHECK(bench.run(skipped, true, "w8a8:skip=last") == 0);
  CHECK(bench.run(skipped, true) == 1);
}

TEST_CASE("pools run over the features of products, and factors stay") {
  Model model = test::fixture(R"(g (float[N,4,3] x, float[3,5] V, float[5,6] W) => (float[N,4,6] y) {
    a = MatMul (x, V)
    p = AveragePool <kernel_shape = [3], pads = [1, 1]> (a)
    y = MatMul (p, W)
  })");
  fill(model, "W", {1, 50, 0.01F, 10, 0.1F}, 1);
  const Model source = clone(model);
  const Bench bench({4, 4, 3});
  CHECK(bench.run(model, true) == 0);
  test::require_close(bench.output(model), bench.output(source), 1e-5);
}

TEST_CASE("channels of zeros and infinite numbers do no harm") {
  Model model = test::fixture(
      "g (float[N,3] x, float[3,4] V, float[4,5] W) => (float[N,5] y) { a = MatMul (x, V)  b = Relu (a)  y = MatMul "
      "(b, W) }");
  for (int64_t i = 0; i < 3; ++i) model.graph->find("V")->constant->mutable_data<float>()[i * 4] = 0;
  for (int64_t i = 0; i < 5; ++i) model.graph->find("W")->constant->mutable_data<float>()[5 + i] = 0;
  const Model source = clone(model);
  const Bench bench({4, 3});
  CHECK(bench.run(model, false) == 1);
  test::require_close(bench.output(model), bench.output(source), 1e-5);
  CHECK(ranges(model, "V", 1)[1] == ranges(source, "V", 1)[1]);
}
