#include "core/autodiff/grad.h"
#include "core/onnx/infer.h"
#include "tests/support/catch.h"
#include "tests/support/gradients.h"
#include "tests/support/net.h"

namespace mlopt::test {

std::vector<GradCase> dropout_cases() {
  const Tensor x = real({4, 5}), yes = tensor({}, {1}, DType::kBool), no = tensor({}, {0}, DType::kBool);
  const Tensor ratio = tensor({}, {0.3});
  const Tensor keys = Tensor::ints({7, 8, 9});
  const auto seed = attr("seed", 3);
  return {
      {"Dropout", {x}},
      {"Dropout", {x, ratio, no}},
      {"Dropout", {x, ratio, yes}, {.attrs = {seed}}},
      {"Dropout", {x, Datum(), yes}, {.attrs = {seed}, .opset = 12, .outputs = 2}},
      {"Dropout", {x, tensor({}, {0}), yes}},
      {"Dropout", {x}, {.attrs = {attr("ratio", 0.4f)}, .opset = 7}},
      {"Dropout", {x}, {.attrs = {attr("is_test", 1)}, .opset = 6}},
      {"SeededDropout", {x, keys}, {.attrs = {attr("axis", 0), attr("ratio", 0.4f)}, .domain = "mlopt"}},
      {"SeededDropout", {x, keys}, {.attrs = {attr("axis", -1), attr("ratio", 0.4f)}, .domain = "mlopt"}},
  };
}

TEST_CASE("gradients of dropout") { check_gradients(dropout_cases()); }

TEST_CASE("a dropout without a mask is made to give one, so that both passes drop the same") {
  Net net;
  Value* x = net.input({100});
  Value* dropped = net.op("Dropout", {x, net.constant(tensor({}, {0.5})), net.constant(tensor({}, {1}, DType::kBool))});
  infer(net.model, *dropped->producer, standard_types);
  Node* sum = net.graph().add_op("ReduceSum", {dropped}, {attr("keepdims", 0)});
  infer(net.model, *sum, standard_types);
  net.output(dropped);
  net.output(add_gradients(net.model, sum->output(0), std::vector{x}, standard_types)[0]);
  CHECK(listed_ops(net.model).find("Dropout 1") != std::string::npos);
  const Tensor at = tensor({100}, std::vector<double>(100, 1));
  const std::vector<Tensor> both = reference_outputs(net.model, {at});
  require_close(both[1], both[0]);
}

}  // namespace mlopt::test
