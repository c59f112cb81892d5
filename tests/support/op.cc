#include "tests/support/op.h"

#include "backends/reference/backend.h"
#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/ir/model.h"
#include "core/tensor/cast.h"
#include "core/tensor/compare.h"
#include "tests/support/catch.h"
#include "tests/support/one_node.h"

namespace mlopt::test {
namespace {

constexpr int64_t kNewestOpset = 25;

Type type_of(const Datum& value) {
  if (value.is_tensor()) return Type::tensor(value.tensor().dtype(), value.tensor().dims());
  if (value.kind() != Datum::Kind::kSequence) return {};
  if (value.items().empty()) return Type::sequence(Type::tensor(DType::kF32));
  return Type::sequence(Type::tensor(value.items().front().tensor().dtype()));
}

}  // namespace

Model one_node(const std::string& op, const std::vector<Datum>& inputs, const OpOptions& options, size_t fixed_from) {
  Model model;
  model.ir_version = 10;
  const bool standard = options.domain.empty();
  const int64_t opset = options.opset != 0 ? options.opset : standard ? kNewestOpset : 1;
  model.set_opset("", standard ? opset : kNewestOpset);
  if (!standard) model.set_opset(options.domain, opset);
  std::vector<Value*> ins, outs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = "x" + std::to_string(i);
    if (inputs[i].is_none())
      ins.push_back(nullptr);
    else if (i >= fixed_from)
      ins.push_back(model.graph->add_constant(name, inputs[i].tensor()));
    else
      ins.push_back(model.graph->add_input(name, type_of(inputs[i])));
  }
  for (int i = 0; i < options.outputs; ++i) outs.push_back(model.graph->add_value("y" + std::to_string(i)));
  model.graph->add_node(options.domain, op, ins, outs, options.attrs)->name = "tested";
  for (Value* out : outs) model.graph->add_output(out);
  return model;
}

std::vector<Datum> run_node(const std::string& op, const std::vector<Datum>& inputs, const OpOptions& options) {
  const Model model = one_node(op, inputs, options, options.fixed ? 0 : inputs.size());
  const std::unique_ptr<Backend> reference = reference_backend();
  Backend& backend = options.backend ? *options.backend : *reference;
  CompileOptions compile;
  compile.seed = options.seed;
  compile.threads = options.threads;
  const auto plan = backend.compile(model, compile);
  std::vector<Datum> given;
  if (!options.fixed)
    for (const Datum& input : inputs)
      if (!input.is_none()) given.push_back(input);
  return plan->run(given);
}

Tensor run_op(const std::string& op, const std::vector<Datum>& inputs, const OpOptions& options) {
  return run_node(op, inputs, options).front().tensor();
}

Tensor tensor(Dims dims, const std::vector<double>& values, DType type) {
  return cast(Tensor::of<double>(std::move(dims), values), type);
}

Tensor uniform(Dims dims, double low, double high, DType type, uint64_t seed) {
  Rng rng(seed);
  Tensor out(DType::kF64, std::move(dims));
  double* values = out.mutable_data<double>();
  for (int64_t i = 0; i < out.size(); ++i) values[i] = rng.uniform(low, high);
  return cast(out, type);
}

void require_close(const Tensor& actual, const Tensor& expected, double tolerance) {
  const auto difference = mismatch(actual, expected, tolerance, tolerance);
  INFO(difference.value_or(""));
  REQUIRE(!difference);
}

std::string error_of(const std::string& op, const std::vector<Datum>& inputs, const OpOptions& options) {
  try {
    run_node(op, inputs, options);
  } catch (const Error& error) {
    return error.what();
  }
  FAIL(op << " ran although it must not");
  return {};
}

}  // namespace mlopt::test
