#include "cli/number_formats.h"

#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

TEST_CASE("the weights of an LSTM in codes are not called floats, for its scales and biases are such") {
  Model model = test::fixture("g (float[5,2,3] x) => (float[5,1,2,4] y) { y = Identity (x) }");
  Graph& graph = *model.graph;
  const auto constant = [&](const char* name, Tensor tensor) { return graph.add_constant(name, std::move(tensor)); };
  Value* w = constant("w", test::uniform({1, 3, 16}, -100, 100, DType::kI8));
  Value* r = constant("r", test::uniform({1, 4, 16}, -100, 100, DType::kI8));
  Value* scale = constant("scale", test::uniform({1, 16}, 0.01, 0.02));
  Value* zero = constant("zero", Tensor::zeros(DType::kI8, {1, 16}));
  Value* bias = constant("bias", test::uniform({1, 32}, -1, 1));
  Node* lstm =
      graph.add_op("DynamicQuantizeLSTM",
                   {graph.inputs()[0], w, r, bias, nullptr, nullptr, nullptr, nullptr, scale, zero, scale, zero},
                   {{"hidden_size", int64_t{4}, {}}}, nullptr, "codes", 1, "com.microsoft");
  graph.set_output(0, lstm->output(0));
  CHECK(cli::number_formats(model) ==
        std::vector<std::string>{"LSTM of int8 weights, inputs quantized at run time (DynamicQuantizeLSTM)"});

  // A layer beside it that is in floats.
  Value* v = constant("v", test::uniform({3, 8}, -1, 1));
  graph.add_output(graph.add_op("MatMul", {graph.inputs()[0], v})->output(0));
  CHECK(cli::number_formats(model).at(1) == "float32 weights");
}
