#include "distill/blocks.h"

#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"
#include "tests/support/testdata.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

Value* weights(Net& net, const std::string& name, const Dims& dims) {
  return net.graph().add_constant(name, uniform(dims, -1, 1, DType::kF32, net.graph().values().size()));
}

/// x + f(x), twice, the second through a mask that was made of the input beside the trunk: what a layer of a
/// transformer is to the algorithm.
Value* layer(Net& net, Value* x, Value* mask, const std::string& name) {
  Value* a = net.op("MatMul", {x, weights(net, name + ".a", {4, 4})});
  x = net.op("Add", {x, net.op("Relu", {a})});
  Value* b = net.op("MatMul", {net.op("Mul", {x, mask}), weights(net, name + ".b", {4, 4})});
  x = net.op("Add", {x, net.op("Tanh", {b})});
  x->producer->name = name;
  return x;
}

/// A layer in, `count` alike, a layer out.
Net layers(int count) {
  Net net;
  Value* in = net.input({3, 4});
  Value* mask = net.op("Cast", {net.op("Greater", {in, net.constant(tensor({}, {0}))})}, {{"to", int64_t{1}, {}}});
  Value* x = net.op("MatMul", {in, weights(net, "in", {4, 4})});
  for (int i = 0; i < count; ++i) x = layer(net, x, mask, "layer" + std::to_string(i));
  net.output(net.op("MatMul", {x, weights(net, "out", {4, 2})}));
  infer(net.model, standard_types);
  return net;
}

std::vector<std::string> labels(const Model& model) {
  std::vector<std::string> all;
  for (const distill::Block& block : distill::repeated_blocks(model)) all.push_back(block.end->producer->name);
  return all;
}

}  // namespace

TEST_CASE("blocks that repeat are found, each whole, whatever goes beside them") {
  CHECK(labels(layers(3).model) == std::vector<std::string>{"layer0", "layer1", "layer2"});
  CHECK(labels(layers(1).model).empty());
}

TEST_CASE("a model without some of its blocks is the model that never had them") {
  Net all = layers(4);
  CHECK(distill::keep_blocks(all.model, {0, 3}, "--student").size() == 2);
  infer(all.model, standard_types);
  verify(all.model);
  Net two = layers(2);
  CHECK(listed_ops(all.model) == listed_ops(two.model));
  CHECK(!all.graph().find("layer1.a"));
  for (const char* name : {".a", ".b"}) {
    two.graph().find(std::string("layer0") + name)->constant = all.graph().find(std::string("layer0") + name)->constant;
    two.graph().find(std::string("layer1") + name)->constant = all.graph().find(std::string("layer3") + name)->constant;
  }
  for (const char* name : {"in", "out"}) two.graph().find(name)->constant = all.graph().find(name)->constant;
  two.graph().rename(two.graph().outputs()[0], all.graph().outputs()[0]->name);
  CHECK(changed_by(two.model, all.model).max_abs == 0);
}

TEST_CASE("numbers that are no blocks are refused") {
  Net net = layers(3);
  const auto kept = [&](const char* text) {
    return thrown_by([&] { distill::keep_blocks(net.model, distill::parse_layers(text, "--student"), "--student"); });
  };
  CHECK(says(kept("layers=0/3"), "there is no block 3"));
  CHECK(says(kept("layers=0/x"), "'x' is no number of a block"));
  CHECK(says(kept("width=2"), "'width=2' is no student"));
  Net one = layers(1);
  CHECK(says(thrown_by([&] { distill::keep_blocks(one.model, {0}, "--student"); }), "no repeated blocks"));
}

TEST_CASE("trained networks have the blocks that their authors gave them") {
  const auto folder = testdata();
  if (!folder) return skip("no test models");
  const std::pair<const char*, size_t> rows[] = {
      {"char_gpt", 4}, {"cifar_resnet20", 7}, {"cifar_resnet20_trainbn", 7}, {"cifar_vgg_bn", 0}};
  for (const auto& [name, count] : rows) {
    INFO(name);
    Model model = read_model((*folder / "models/trained" / (std::string(name) + ".onnx")).string());
    infer(model, standard_types);
    CHECK(distill::repeated_blocks(model).size() == count);
  }
}

}  // namespace mlopt::test
