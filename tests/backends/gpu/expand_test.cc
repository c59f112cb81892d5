#include "backends/gpu/expand.h"

#include "backends/reference/backend.h"
#include "core/base/error.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"
#include "tests/support/one_node.h"
#include "tests/support/rewrite.h"

namespace mlopt::test {
namespace {

/// Requires that a GPU gives what the reference backend gives, without a fallback. `graph` as fixture() takes it.
void require_graph_on_gpu(const std::string& graph, const std::vector<Datum>& inputs, double tolerance = 1e-5,
                          int64_t opset = 21) {
  const Model model = fixture(graph, opset);
  const std::vector<Datum> expected = reference_backend()->compile(model, {})->run(inputs);
  const std::vector<Datum> got = gpu_on_host()->compile(model, {})->run(inputs);
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) require_close(got[i].tensor(), expected[i].tensor(), tolerance);
}

}  // namespace

TEST_CASE("operators that the standard defines by others run on a GPU as these") {
  const Tensor x = uniform({3, 4, 5}, -2, 2), y = uniform({3, 4, 5}, -2, 2, DType::kF32, 2);
  require_on_gpu("Celu", {x}, {.attrs = {attr("alpha", 0.7f)}});
  require_on_gpu("Celu", {Tensor::scalar(-0.5f)});
  require_on_gpu("SwiGLU", {x, y}, {.attrs = {attr("alpha", 1.3f)}, .opset = 28});
  for (const int64_t opset : {13, 17, 18, 21, 23}) {
    require_on_gpu("MeanVarianceNormalization", {uniform({2, 3, 4, 5}, -1, 1)}, {.opset = opset}, 1e-4);
    require_on_gpu("MeanVarianceNormalization", {x},
                   {.attrs = {attr("axes", std::vector<int64_t>{0, 2})}, .opset = opset}, 1e-4);
  }
  const Tensor labels = tensor({3, 5}, {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2}, DType::kI64);
  require_on_gpu("SoftmaxCrossEntropyLoss", {x, labels}, {.attrs = {attr("reduction", "sum")}});
}

TEST_CASE("operators that kernels run in part only run on a GPU as what the standard says of the rest") {
  const Tensor x = uniform({2, 3, 8}, -2, 2);
  for (const int axis : {0, 1, 2}) {
    const Dims rows(x.dims().begin() + axis, x.dims().end());
    require_on_gpu("LayerNormalization", {x, uniform(rows, 0, 1), uniform(rows, 0, 1)},
                   {.attrs = {attr("axis", axis)}, .opset = 17, .outputs = 3}, 1e-4);
  }
  const Tensor q = uniform({2, 3, 4, 8}, -1, 1), k = uniform({2, 3, 6, 8}, -1, 1, DType::kF32, 2);
  for (const int mode : {0, 1, 2, 3})
    require_on_gpu("Attention", {q, k, k, uniform({4, 6}, -1, 1)},
                   {.attrs = {attr("qk_matmul_output_mode", mode)}, .opset = 23, .outputs = 4}, 1e-5);
  require_on_gpu("Clip", {uniform({3, 4}, -9, 9, DType::kI8), tensor({}, {2}, DType::kI8)}, {}, 0);
}

TEST_CASE("grids of matrices on a GPU") {
  for (const int corners : {0, 1})
    for (const int64_t opset : {20, 23}) {
      const OpOptions options{.attrs = {attr("align_corners", corners)}, .opset = opset, .fixed = true};
      for (const int64_t n : {1, 2}) {
        require_on_gpu("AffineGrid", {uniform({n, 2, 3}, -1, 1), Tensor::ints({n, 3, 4, 5})}, options);
        require_on_gpu("AffineGrid", {uniform({n, 3, 4}, -1, 1), Tensor::ints({n, 1, 2, 1, 3})}, options);
      }
    }
}

TEST_CASE("Bernoulli on a GPU gives one with the probability that it reads") {
  const Model model = fixture("g (float[4000] x) => (int32[4000] y) { y = Bernoulli <dtype = 6, seed = 1.0> (x) }", 17);
  const std::vector<Datum> inputs{Tensor::of(Dims{4000}, std::vector<float>(4000, 0.9f))};
  const Tensor drawn = gpu_on_host()->compile(model, {})->run(inputs)[0].tensor();
  const auto ones = std::count(drawn.data<int32_t>(), drawn.data<int32_t>() + drawn.size(), 1);
  CHECK(std::abs(static_cast<double>(ones) - 3600) < 100);
}

TEST_CASE("what is known when a plan is made decides branches, loops and shapes on a GPU") {
  const Tensor x = uniform({2, 3}, 1, 2);
  require_on_gpu("CenterCropPad", {x, Tensor::ints({4, 2})}, {.opset = 18});
  require_graph_on_gpu(R"(g (float[2,3] x) => (float[2,3] y) {
    n = Size (x)  six = Constant <value_int = 6> ()  is_six = Equal (n, six)
    y = If (is_six) <then_branch = t () => (float[2,3] a) { a = Neg (x) }, else_branch = e () => (float[2,3] b) { b = Exp (x) }> })",
                       {x}, 0);
  const std::string repeat = R"( => (float[2,3] y, float[M,2,3] z) {
    y, z = Loop (n, , x) <body = b (int64 i, bool c, float[2,3] v) => (bool k, float[2,3] w, float[2,3] s) {
      k = Identity (c)  w = Mul (v, v)  s = Neg (w) }> })";
  require_graph_on_gpu(
      "g (float[2,3] x)" + repeat.substr(0, repeat.find('{')) + "<int64 n = {3}>" + repeat.substr(repeat.find('{')),
      {x});
  require_graph_on_gpu("g (float[2,3] x, int64 n)" + repeat, {x, Tensor::scalar<int64_t>(2)});  // the caller says it
}

TEST_CASE("an operator's own bodies run on a GPU") {
  Model model = fixture(R"(g (float[1,2,4,8] q, float[1,2,4,8] k, float[1,2,4,8] v) => (float[1,2,4,8] y) {
    y = ai.onnx.preview.FlexAttention (q, k, v) <score_mod = cap (float[B,H,L,S] s) => (float[B,H,L,S] t) {
      c = Constant <value_float = 0.3> ()  d = Div (s, c)  e = Tanh (d)  t = Mul (e, c) }> })",
                        26);
  model.set_opset("ai.onnx.preview", 1);
  const std::vector<Datum> inputs{uniform({1, 2, 4, 8}, -1, 1), uniform({1, 2, 4, 8}, -1, 1, DType::kF32, 2),
                                  uniform({1, 2, 4, 8}, -1, 1, DType::kF32, 3)};
  const Datum expected = reference_backend()->compile(model, {})->run(inputs)[0];
  require_close(gpu_on_host()->compile(model, {})->run(inputs)[0].tensor(), expected.tensor(), 1e-5);
}

TEST_CASE("tensors without elements are known on a GPU") {
  const Tensor none(DType::kF32, {2, 0, 3}), x = uniform({2, 4, 3}, -1, 1);
  for (const char* op : {"ReduceSum", "ReduceProd", "ReduceMax"})
    require_on_gpu(op, {none, Tensor::ints({1})}, {.opset = 20}, 0);
  require_on_gpu("Concat", {none, x, none}, {.attrs = {attr("axis", 1)}}, 0);
  require_on_gpu("Split", {x, Tensor::ints({0, 4})}, {.attrs = {attr("axis", 1)}, .outputs = 2}, 0);
}

TEST_CASE("several operators of one kind run on a GPU as the bodies of each") {
  require_graph_on_gpu(
      "g (float[3,4] x) => (float[3,4] y) { a = Celu <alpha = 0.5> (x)  b = Neg (a)  y = Celu <alpha = 2.0> (b) }",
      {uniform({3, 4}, -2, 2)});
}

TEST_CASE("what is refused of a replaced operator goes by its name") {
  const Tensor x = uniform({3}, 0, 1, DType::kF64);
  try {
    gpu_on_host()->compile(one_node("Celu", {x}, {}, 1), {});
    FAIL("it was not refused");
  } catch (const Error& e) {
    CHECK(e.code == Code::kUnsupported);
    CHECK(e.message.find("Celu") != std::string::npos);
  }
}

TEST_CASE("integers of all widths on a GPU wrap, shift and divide") {
  for (const DType type : {DType::kI8, DType::kU8, DType::kI16, DType::kU16, DType::kU32, DType::kI64, DType::kU64}) {
    INFO(name(type));
    const Tensor a = uniform({4, 7}, is_signed(type) ? -100 : 0, 100, type), b = uniform({7}, 1, 9, type, 3);
    for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Mod", "BitwiseAnd", "BitwiseOr", "BitwiseXor"})
      require_on_gpu(op, {a, b}, {}, 0);
  }
  const Tensor a = uniform({9}, 0, 200, DType::kU8), by = counting({9}, DType::kU8);
  for (const char* direction : {"LEFT", "RIGHT"})
    require_on_gpu("BitShift", {a, by}, {.attrs = {attr("direction", direction)}}, 0);
}

}  // namespace mlopt::test
