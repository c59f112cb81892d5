#include "core/train/trainable.h"

#include <cmath>

#include "core/onnx/infer.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"
#include "tests/support/rewrite.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

/// (x - mean) w + b, scaled and masked.
Net masked() {
  Net net;
  Graph& graph = net.graph();
  const auto constant = [&](const char* name, Tensor value) { return graph.add_constant(name, std::move(value)); };
  Value* centred = net.op("Sub", {net.input({2, 3}), constant("mean", tensor({3}, {1, 2, 3}))});
  Value* product = net.op("MatMul", {centred, constant("w", uniform({3, 4}, -1, 1))});
  Value* sum = net.op("Add", {product, constant("b", uniform({4}, -1, 1))});
  Value* scaled = net.op("Mul", {sum, constant("scale", tensor({1}, {0.5}))});
  Value* mask = constant("mask", tensor({2, 4}, {0, -1e9, -1e9, -1e9, 0, 0, -1e9, -1e9}));
  Value* shape = constant("shape", tensor({2}, {4, 2}, DType::kI64));
  net.output(net.op("Reshape", {net.op("Add", {scaled, mask}), shape}));
  return net;
}

std::vector<std::string> names(const std::vector<Value*>& values) {
  std::vector<std::string> all;
  for (const Value* v : values) all.push_back(v->name);
  return all;
}

}  // namespace

TEST_CASE("weights are trained, masks, scalars and what inputs are normalized with are not") {
  const Net net = masked();
  CHECK(names(train::trainable(net.model, {})) == std::vector<std::string>{"w", "b"});
  CHECK(names(train::trainable(net.model, {{}, {"b"}})) == std::vector<std::string>{"w"});
  CHECK(names(train::trainable(net.model, {{"scale", "m*"}, {"mask"}})) == std::vector<std::string>{"mean", "scale"});
}

TEST_CASE("single numbers are trained where a layer has them as a weight or bias") {
  Model model = fixture(R"(g (float[2,1,4,4] x, float[1,1,3,3] K, float[1] C, float[1] S, float[1] T, float[1] M,
      float[1] V, float[1,1] P, float[4,1] W, float[1] B, float[1] D, float[1,4] Q, float[1] R, float[4,1] G,
      float[1] H) => (float[8,1] y) {
    c = Conv <pads = [1, 1, 1, 1]> (x, K, C)  n = BatchNormalization (c, S, T, M, V)
    p = PRelu (n, P)  m = MatMul (p, W)  b = Add (m, B)  d = Mul (b, D)
    q = MatMul (d, Q)  r = Add (q, R)  f = Flatten <axis = 3> (r)  y = Gemm (f, G, H)
  })");
  infer(model, standard_types);
  CHECK(names(train::trainable(model, {})) ==
        std::vector<std::string>{"K", "C", "S", "T", "M", "V", "P", "W", "B", "Q", "G", "H"});
}

TEST_CASE("a single slope is trained behind nodes that give it axes too") {
  Model model = fixture(R"(g (float[2,3,4] x, float[1] P, float16[1] Q, float[1] H) => (float[2,3,4] y)
      <int64[2] behind = {1, 2}, int64[3] shape = {1, 1, 1}> {
    p = Unsqueeze (P, behind)  a = PRelu (x, p)
    c = Cast <to = 1> (Q)  i = Identity (c)  q = Reshape (i, shape)  b = PRelu (a, q)
    h = Reshape (H, shape)  y = Mul (b, h)
  })");
  infer(model, standard_types);
  CHECK(names(train::trainable(model, {})) == std::vector<std::string>{"P", "Q"});
}

TEST_CASE("ones and zeros that an exporter gave a normalization without weights are not trained") {
  for (const auto& [scale, bias, trained] : {std::tuple{"norm.weight", "norm.bias", 2},
                                             {"/norm/Constant_output_0", "/norm/Constant_1_output_0", 0},
                                             {"val_8", "val_11", 0},
                                             {"norm.weight", "/norm/Constant_output_0", 1},
                                             {"norm/Const:0", "norm/beta:0", 1},
                                             {"45", "46", 0}}) {
    for (const double first : {1.0, 0.5}) {
      Net net;
      Value* w = net.graph().add_constant("w", uniform({3, 4}, -1, 1));
      Value* product = net.op("MatMul", {net.input({2, 3}), w});
      Value* ones = net.graph().add_constant(scale, tensor({4}, {first, 1, 1, 1}));
      Value* zeros = net.graph().add_constant(bias, tensor({4}, {0, 0, 0, 1 - first}));
      net.output(net.op("LayerNormalization", {product, ones, zeros}));
      CHECK(train::trainable(net.model, {}).size() == (first == 1 ? 1U + trained : 3U));
      CHECK(names(train::trainable(net.model, {{scale}})) == std::vector<std::string>{scale});
    }
  }
}

TEST_CASE("copies of a weight are chosen by its name and by their own") {
  const Net net = masked();
  const std::map<std::string, std::string> copies = {{"b", "w"}};
  CHECK(names(train::trainable(net.model, {{"w"}, {}, {}, copies})) == std::vector<std::string>{"w", "b"});
  CHECK(names(train::trainable(net.model, {{"b"}, {}, {}, copies})) == std::vector<std::string>{"b"});
  CHECK(names(train::trainable(net.model, {{"w", "scale"}, {"w"}, {}, copies})) == std::vector<std::string>{"scale"});
}

TEST_CASE("a choice that leaves nothing, or names nothing, is an error") {
  const Net net = masked();
  CHECK(says(thrown_by([&] { train::trainable(net.model, {{}, {"*"}}); }), "nothing is left to train"));
  CHECK(says(thrown_by([&] { train::trainable(net.model, {{}, {"mazk"}}); }), "did you mean 'mask'?"));
}

}  // namespace mlopt::test
