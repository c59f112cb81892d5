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
