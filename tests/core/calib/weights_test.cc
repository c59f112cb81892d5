#include "core/calib/weights.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// The weight as the tensor's numbers, 0, 1, 2, ...: what load() gives then is where each element lies.
std::vector<float> places(const Weight& w) {
  Tensor& t = *w.value->constant;
  std::vector<float> numbers(static_cast<size_t>(t.size()));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  t = Tensor::of<float>(t.dims(), numbers);
  return load(w).values;
}

struct Loaded {
  Model model;
  Found found;
  explicit Loaded(const std::string& graph, const WeightChoice& spec = {}) : model(test::fixture(graph)) {
    found = find_weights(model, spec);
  }
  const Weight& only() const {
    REQUIRE(found.weights.size() == 1);
    return found.weights[0];
  }
};

}  // namespace

TEST_CASE("every operator's weight is outputs by inputs") {
  const Loaded matmul("g (float[N,2] x, float[2,3] W) => (float[N,3] y) { y = MatMul (x, W) }");
  CHECK(places(matmul.only()) == std::vector<float>{0, 3, 1, 4, 2, 5});
  const Loaded left("g (float[2,N] x, float[3,2] W) => (float[3,N] y) { y = MatMul (W, x) }");
  CHECK(places(left.only()) == std::vector<float>{0, 1, 2, 3, 4, 5});
  CHECK(left.only().operand == 0);
  const Loaded batched("g (float[2,N,2] x, float[2,2,2] W) => (float[2,N,2] y) { y = MatMul (x, W) }");
  CHECK(places(batched.only()) == std::vector<float>{0, 2, 1, 3, 4, 6, 5, 7});
  CHECK(batched.only().groups == 2);
  const Loaded gemm("g (float[N,2] x, float[3,2] W) => (float[N,3] y) { y = Gemm <transB = 1> (x, W) }");
  CHECK(places(gemm.only()) == std::vector<float>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("convolutions have a column for each channel and place of the kernel") {
  const Loaded conv("g (float[1,4,5,5] x, float[2,2,1,2] W) => (float[1,2,5,4] y) { y = Conv <group = 2> (x, W) }");
  CHECK(places(conv.only()) == std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(conv.only().kernel == 2);
  CHECK(conv.only().groups == 2);
  // [4 inputs, 1 output of each of 2 groups, kernel of 2]: inputs 0 and 1 make output 0, 2 and 3 output 1.
  const Loaded up("g (float[1,4,5] x, float[4,1,2] W) => (float[1,2,6] y) { y = ConvTranspose <group = 2> (x, W) }");
  CHECK(places(up.only()) == std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
  const Loaded wide("g (float[1,2,5] x, float[2,3,2] W) => (float[1,3,6] y) { y = ConvTranspose (x, W) }");
  CHECK(places(wide.only()) == std::vector<float>{0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11});
}

TEST_CASE("recurrent layers have two weights") {
  const Loaded lstm(R"(g (float[T,1,2] x, float[1,8,2] W, float[1,8,2] R) => (float[T,1,1,2] y) {
    [rnn] y = LSTM <hidden_size = 2> (x, W, R)
  })");
  REQUIRE(lstm.found.weights.size() == 2);
  CHECK(lstm.found.weights[1].operand == 2);
  CHECK(lstm.found.weights[1].rows == 8);
}

TEST_CASE("a weight that is transposed on its way is seen as its reader sees it") {
  const Loaded l(R"(g (float[N,2] x, float[3,2] W) => (float[N,3] y) {
    same = Identity (W)
    turned = Transpose <perm = [1, 0]> (same)
    y = MatMul (x, turned)
  })");
  CHECK(places(l.only()) == std::vector<float>{0, 1, 2, 3, 4, 5});
  Matrix m = load(l.only());
  m.at(2, 1) = -7;
  store(l.only(), m);
  CHECK(to_floats(*l.only().value->constant)[5] == -7);
}

TEST_CASE("numbers keep the type that they are stored in, and those that do not change all their bits") {
  const Loaded l("g (double[N,2] x, double[2,2] W) => (double[N,2] y) { y = MatMul (x, W) }");
  const std::vector<double> before = to_doubles(*l.only().value->constant);
  Matrix m = load(l.only());
  m.at(0, 1) = 0;  // element (1, 0) of the tensor
  store(l.only(), m);
  const std::vector<double> after = to_doubles(*l.only().value->constant);
  CHECK(after == std::vector<double>{before[0], before[1], 0, before[3]});
  CHECK(l.only().value->constant->dtype() == DType::kF64);
}

TEST_CASE("layers whose weights are not seen are said to stay") {
  const Loaded l(R"(g (float[N,2] x, float16[2,3] H, float[3,4] E, float[4,2] V, float[1,2] B) => (float[N,2] y) {
    wide = Cast <to = 1> (H)
    [cast] a = MatMul (x, wide)
    [sum] b = Einsum <equation = "ab,bc->ac"> (a, E)
    [seen] y = Gemm (b, V, B)
  })");
  CHECK(l.only().layer == "seen");
  REQUIRE(l.found.left.size() == 2);
  CHECK(test::contains(l.found.left.at("cast"), "is computed by Cast"));
  CHECK(test::contains(l.found.left.at("cast"), "mlopt convert --to fp32, run before"));
  const Loaded turned(R"(g (float[N,2] x, float[3,2] H, float[3,2] V) => (float[N,2] y) {
    wide = Transpose (H)
    wider = Neg (wide)
    [folded] a = MatMul (x, wider)
    [seen] y = MatMul (a, V)
  })");
  CHECK(test::contains(turned.found.left.at("folded"), "mlopt fuse, run before"));
  const Loaded flat(R"(g (float[N,2] x, float[6] H, float[3] C, float[3,2] V) => (float[N,2] y)
      <int64[2] shape = {2, 3}, int64[2] row = {1, 3}> {
    matrix = Reshape (H, shape)
    bias = Reshape (C, row)
    [shaped] a = Gemm (x, matrix, bias)
    [seen] y = MatMul (a, V)
  })");
  CHECK(flat.only().layer == "seen");
  CHECK(test::contains(flat.found.left.at("shaped"), "is computed by Reshape"));
  const Loaded biased(R"(g (float[N,2] x, float[2,3] W, float[3] C) => (float[N,3] y) <int64[2] row = {1, 3}> {
    bias = Reshape (C, row)
    y = Gemm (x, W, bias)
  })");
  CHECK(biased.found.left.empty());
  CHECK(l.found.left.at("sum") == "weights of Einsum cannot be pruned");
  const Loaded known(R"(g (float[N,2] x, float[N,2] s, float[2,2] W) => (float[N,2] y) {
    t = Transpose (s)
    a = MatMul (x, W)
    b = MatMul (t, a)
    y = MatMul (a, b)
  })");
  CHECK(known.found.left.empty());
}

TEST_CASE("a weight that several layers share is pruned once, and only where they read it alike") {
  const Loaded alike(R"(g (float[N,2] x, float[2,2] W) => (float[N,2] y) {
    a = MatMul (x, W)
    y = MatMul (a, W)
  })");
  CHECK(alike.only().readers.size() == 2);
  const auto refused = [](const char* graph) { return test::error_of([&] { Loaded l(graph); }); };
  CHECK(test::contains(refused(R"(g (float[N,2] x, float[2,2] W) => (float[N,2] y) {
    a = MatMul (x, W)
    y = Gemm <transB = 1> (a, W)
  })"),
                       "read in another way by Gemm"));
  CHECK(test::contains(refused(R"(g (int64[N] x, float[5,2] W) => (float[N,5] y) {
    a = Gather (W, x)
    t = Transpose (W)
    y = MatMul (a, t)
  })"),
                       "is read by Gather"));
}

TEST_CASE("globs choose by the names of layers and of weights") {
  const char* graph = R"(g (float[N,2] x, float[2,2] V, float[2,2] W) => (float[N,2] y) {
    [first] a = MatMul (x, V)
    [second] y = MatMul (a, W)
  })";
  WeightChoice by_layer, by_weight, wrong;
  by_layer.only = {"fir*"};
  by_weight.skip = {"V"};
  wrong.only = {"secand"};
  CHECK(Loaded(graph, by_layer).only().layer == "first");
  const Loaded rest(graph, by_weight);
  CHECK(rest.only().layer == "second");
  CHECK(rest.found.left.at("first") == "excluded by --only or --skip");
  const std::string said = test::error_of([&] { Loaded l(graph, wrong); });
  CHECK(test::contains(said, "'secand' matches no layer"));
  CHECK(test::contains(said, "did you mean 'second'"));
}

TEST_CASE("integers and models without weights are refused with the reason") {
  const auto refused = [](const char* graph) { return test::error_of([&] { Loaded l(graph); }); };
  CHECK(test::contains(refused("g (float[N,2] x) => (float[N,2] y) { y = Relu (x) }"), "no weight of the model"));
  CHECK(test::contains(refused("g (float[1,4,5,5] x, float[2,2,1,2] W) => (float[1,2,5,4] y) "
                               "{ y = Conv <group = 0> (x, W) }"),
                       "no weight of the model"));
  CHECK(test::contains(refused(R"(g (float[N,2] x) => (float[N,2] y)
    <int8[2,2] W = {1, 2, 3, 4}, float s = {0.1}> {
    w = DequantizeLinear (W, s)
    y = MatMul (x, w)
  })"),
                       "stored as integers"));
}

TEST_CASE("where only storing changes, tables count, and what multiplies says how a shared weight is seen") {
  const WeightChoice storing{.verb = "quantize", .done = "quantized", .stored_only = true};
  const char* tied =
      "g (int64[N] i, float[N,2] x, float[3,2] W) => (float[N,2] e, float[N,3] y) {\n"
      "  e = Gather (W, i)\n  t = Transpose <perm = [1, 0]> (W)\n  y = MatMul (x, t)\n}";
  const Loaded table("g (int64[N] i, float[3,2] W) => (float[N,2] e) { e = Gather (W, i) }", storing);
  CHECK(places(table.only()) == std::vector<float>{0, 1, 2, 3, 4, 5});
  const Loaded shared(tied, storing);
  CHECK(shared.only().op == "MatMul");
  CHECK(places(shared.only()) == std::vector<float>{0, 1, 2, 3, 4, 5});
  CHECK_FALSE(test::error_of([&] { Loaded refused(tied); }).empty());
  CHECK(Loaded("g (float[N] x) => (float[N] y) { y = Relu (x) }", storing).found.weights.empty());
}

TEST_CASE("weights of what ONNX Runtime joins are those of the standard's operators") {
  const auto found = [](const std::string& graph) {
    const Loaded loaded(graph);
    return loaded.only().op + " " + std::to_string(loaded.only().rows) + "x" + std::to_string(loaded.only().columns);
  };
  const auto product = [](const std::string& node) {
    return "g (float[N,S,3] x, float[3,6] W, float[6] B) => (float[N,S,6] y) { y = com.microsoft." + node + " }";
  };
  CHECK(found("g (float[N,2,5,5] x, float[4,2,3,3] W) => (float[N,4,3,3] y) { "
              "y = com.microsoft.FusedConv <activation = \"Relu\"> (x, W) }") == "Conv 4x18");
  CHECK(found("g (float[N,3] x, float[6,3] W, float[6] B) => (float[N,6] y) { "
              "y = com.microsoft.FusedGemm <transB = 1, activation = \"Relu\"> (x, W, B) }") == "Gemm 6x3");
  CHECK(found(product("FusedMatMul <alpha = 2.0> (x, W)")) == "MatMul 6x3");
  CHECK(found(product("Attention <num_heads = 1> (x, W, B)")) == "MatMul 6x3");
  CHECK(found("g (float[N,6,S] x, float[6,3] W) => (float[N,3,S] y) { "
              "y = com.microsoft.FusedMatMul <transA = 1> (W, x) }") == "MatMul 3x6");
  CHECK_THROWS_AS(Loaded(product("FusedMatMul <transA = 1> (x, W)")), Error);
  CHECK_THROWS_AS(Loaded(product("Attention <num_heads = 1> (W, x)")), Error);
}
