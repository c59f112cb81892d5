#include "tests/support/net.h"

#include <algorithm>
#include <map>

#include "backends/cpu/backend.h"
#include "backends/cpu/prepare/prepare.h"
#include "backends/reference/backend.h"
#include "core/base/text.h"
#include "core/onnx/infer.h"
#include "core/tensor/compare.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {

Net::Net() {
  model.ir_version = 10;
  model.set_opset("", 21);
}

Value* Net::input(const Dims& dims) { return graph().add_input("x", Type::tensor(DType::kF32, dims)); }

Value* Net::op(const std::string& op, std::vector<Value*> inputs, std::vector<Attr> attrs) {
  return graph().add_op(op, std::move(inputs), std::move(attrs), nullptr, op)->output(0);
}

Value* Net::quantize(Value* x, double scale, double zero, DType type) {
  return op("QuantizeLinear", {x, constant(tensor({}, {scale})), constant(tensor({}, {zero}, type))});
}

Value* Net::dequantize(Value* x, double scale, double zero, DType type) {
  return op("DequantizeLinear", {x, constant(tensor({}, {scale})), constant(tensor({}, {zero}, type))});
}

Value* Net::rounded(Value* x, double scale, double zero, DType type) {
  return dequantize(quantize(x, scale, zero, type), scale, zero, type);
}

Value* Net::weights(const Dims& dims, int64_t axis) {
  const int64_t n = dims[static_cast<size_t>(axis)];
  Value* numbers = constant(uniform(dims, -127, 127, DType::kI8, graph().node_count()));
  Value* scales = constant(uniform({n}, 0.002, 0.004, DType::kF32, 7));
  return op("DequantizeLinear", {numbers, scales, constant(Tensor::zeros(DType::kI8, {n}))}, {{"axis", axis, ""}});
}

Value* Net::conv(Value* x, int64_t from, int64_t to) {
  return op("Conv", {x, weights({to, from, 3, 3}, 0), constant(uniform({to}, -1, 1))},
            {{"pads", std::vector<int64_t>{1, 1, 1, 1}, ""}});
}

std::string listed_ops(const Model& model) {
  std::map<std::string, int> count;
  for (const Node* node : model.graph->nodes()) ++count[node->op];
  std::vector<std::string> listed;
  for (const auto& [op, times] : count) listed.push_back(op + " " + std::to_string(times));
  return join(listed, ", ");
}

namespace {

std::vector<std::string> signature(const Model& model) {
  std::vector<std::string> lines;
  for (const Value* v : model.graph->inputs()) lines.push_back(v->name + " " + to_string(v->type));
  for (const Value* v : model.graph->outputs()) lines.push_back(v->name + " " + to_string(v->type));
  return lines;
}

Tensor seeded_input(const Type& type) {
  const Dims dims = type.static_dims().value();
  if (is_float(type.dtype)) return uniform(dims, -1, 1, type.dtype, 9);
  std::vector<double> numbers;
  for (int64_t i = 0; i < element_count(dims); ++i) numbers.push_back(static_cast<double>(i % 7));
  return tensor(dims, numbers, type.dtype);
}

}  // namespace

Difference changed_by(const Model& source, const Model& result) {
  REQUIRE(signature(result) == signature(source));
  std::vector<Datum> inputs;
  for (const Value* v : source.graph->inputs()) inputs.emplace_back(seeded_input(v->type));
  const auto expected = reference_backend()->compile(source, {})->run(inputs);
  const auto actual = reference_backend()->compile(result, {})->run(inputs);
  DifferenceSum sum;
  for (size_t i = 0; i < expected.size(); ++i) sum.add(actual[i].tensor(), expected[i].tensor());
  REQUIRE(sum.result().max_expected > 0.01);  // or nothing would be compared
  return sum.result();
}

std::string prepared_ops(const Model& model) {
  Model copy = clone(model);
  cpu::prepare(
      copy, [](const Model& constants) { return reference_backend()->compile(constants, {})->run({}); },
      Precision::kF32);
  return listed_ops(copy);
}

std::string specialized_ops(const Model& model) {
  Model copy = clone(model);
  infer(copy);
  cpu::specialize(copy, nullptr);
  return listed_ops(copy);
}

namespace {

std::vector<Datum> seeded_inputs(const Model& model) {
  std::vector<Datum> inputs;
  for (const Value* v : model.graph->inputs())
    inputs.emplace_back(uniform(*v->type.static_dims(), -1, 1, v->type.dtype, 9));
  return inputs;
}

}  // namespace

int64_t steps_by(const Model& model, std::string_view kernel) {
  CompileOptions options;
  options.profile = true;
  const auto executable = cpu_with_fallback()->compile(model, options);
  (void)executable->run(seeded_inputs(model));
  const auto steps = executable->profile();
  return std::count_if(steps.begin(), steps.end(), [&](const StepProfile& s) { return s.kernel == kernel; });
}

void require_same_result(const Model& model, double tolerance, bool alone) {
  const std::vector<Datum> inputs = seeded_inputs(model);
  const auto expected = reference_backend()->compile(model, {})->run(inputs);
  const auto cpu = alone ? cpu_backend({}, standard_types) : cpu_with_fallback();
  const auto actual = cpu->compile(model, {})->run(inputs);
  REQUIRE(actual.size() == expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    const Difference d = difference(actual[i].tensor(), expected[i].tensor());
    REQUIRE(d.max_expected > 10 * tolerance);  // or nothing would be compared
    REQUIRE(d.max_abs <= tolerance);
  }
}

}  // namespace mlopt::test
