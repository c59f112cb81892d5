#include "core/train/angles.h"

#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

std::vector<std::string> found(const Net& net) {
  std::vector<std::string> names;
  for (const Value* v : train::angles(net.model.graph->initializers())) names.push_back(v->name);
  return names;
}

Value* constant(Net& net, const char* name, const Dims& dims) {
  return net.graph().add_constant(name, uniform(dims, -1, 1, DType::kF32, net.graph().values().size()));
}

}  // namespace

TEST_CASE("frequencies whose cosines and sines are taken, and nothing else, are angles") {
  const auto network = [](const char* first, const char* second, bool read_besides) {
    Net net;
    Value* turned = net.op("Mul", {net.input({5, 1}), constant(net, "frequencies", {4})});
    Value* sum = net.op(
        "MatMul", {net.op("Add", {net.op(first, {turned}), net.op(second, {turned})}), constant(net, "w", {4, 4})});
    net.output(read_besides ? net.op("Add", {sum, turned}) : sum);
    return found(net);
  };
  CHECK(network("Cos", "Sin", false) == std::vector<std::string>{"frequencies"});
  CHECK(network("Sin", "Sin", false).empty());  // a network whose activation it is
  CHECK(network("Cos", "Sin", true).empty());
}

TEST_CASE("tables of rotary embeddings and tables of cosines and sines are angles") {
  Net net;
  Graph& graph = net.graph();
  Tensor cosines = Tensor::zeros(DType::kF32, {5, 2}), sines = cosines;
  for (int64_t i = 0; i < cosines.size(); ++i) {
    cosines.mutable_data<float>()[i] = std::cos(static_cast<float>(i));
    sines.mutable_data<float>()[i] = std::sin(static_cast<float>(i));
  }
  Value* x = net.input({1, 2, 5, 4});
  Node* rotary = graph.add_op("RotaryEmbedding", {x, constant(net, "c", {1, 5, 2}), constant(net, "s", {1, 5, 2})});
  Value* half = net.op(
      "Mul", {graph.add_input("y", Type::tensor(DType::kF32, Dims{5, 2})), graph.add_constant("cosines", cosines)});
  Value* other = net.op("Mul", {half, graph.add_constant("sines", sines)});
  Value* scaled = net.op("Mul", {other, graph.add_constant("ones", tensor({1, 2}, {1, 1}))});
  net.output(net.op("Add", {scaled, graph.add_constant("zeros", Tensor::zeros(DType::kF32, {1, 2}))}));
  net.output(rotary->output(0));
  CHECK(found(net) == std::vector<std::string>{"c", "s", "cosines", "sines"});
}

TEST_CASE("tables that hold both cosines and sines are angles") {
  const auto table = [](int64_t apart) {
    Tensor both = Tensor::zeros(DType::kF32, {3, 4});
    for (int64_t row = 0; row < 3; ++row)
      for (int64_t i = 0; i < 2; ++i) {
        float* at = both.mutable_data<float>() + row * 4 + (apart == 1 ? 2 * i : i);
        at[0] = std::sin(static_cast<float>(row + i)), at[apart] = std::cos(static_cast<float>(row + i));
      }
    Net net;
    net.output(net.op("Add", {net.input({3, 4}), net.graph().add_constant("table", both)}));
    return found(net);
  };
  CHECK(table(1) == std::vector<std::string>{"table"});
  CHECK(table(2) == std::vector<std::string>{"table"});
  Net net;
  net.output(net.op("Add", {net.input({3, 4}), net.graph().add_constant("unit", tensor({1, 4}, {1, 0, 0, 1}))}));
  CHECK(found(net).empty());
}

}  // namespace mlopt::test
