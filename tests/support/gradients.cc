#include "tests/support/gradients.h"

#include <algorithm>
#include <cmath>

#include "backends/reference/backend.h"
#include "core/autodiff/grad.h"
#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

/// A model of the node, its loss, and what is differentiated.
struct Problem {
  Model model;
  Value* loss = nullptr;
  std::vector<Value*> wrt;
  std::vector<Datum> at;
};

Value* weighted_sum(Problem& p, Value* out, uint64_t seed) {
  Graph& graph = *p.model.graph;
  Value* weights = graph.add_constant("weights", real(*out->type.static_dims(), -1, 1, seed));
  Node* product = graph.add_op("Mul", {out, weights});
  infer(p.model, *product, standard_types);
  Node* sum = graph.add_op("ReduceSum", {product->output(0)}, {attr("keepdims", 0)});
  infer(p.model, *sum, standard_types);
  return sum->output(0);
}

Problem problem_of(const GradCase& row) {
  Problem p;
  p.model.ir_version = 10;
  p.model.set_opset("", row.options.opset != 0 && row.options.domain.empty() ? row.options.opset : 21);
  if (!row.options.domain.empty()) p.model.set_opset(row.options.domain, std::max<int64_t>(1, row.options.opset));
  Graph& graph = *p.model.graph;
  std::vector<Value*> inputs;
  for (size_t i = 0; i < row.inputs.size(); ++i) {
    const Datum& x = row.inputs[i];
    if (x.is_none()) {
      inputs.push_back(nullptr);
    } else if (x.tensor().dtype() != DType::kF64 || std::ranges::count(row.frozen, i) > 0) {
      inputs.push_back(graph.add_constant("c" + std::to_string(i), x.tensor()));
    } else {
      inputs.push_back(graph.add_input("x" + std::to_string(i), Type::tensor(DType::kF64, x.tensor().dims())));
      p.wrt.push_back(inputs.back());
      p.at.push_back(x);
    }
  }
  Node* node = graph.add_op(row.op, inputs, row.options.attrs, nullptr, "y", row.options.outputs, row.options.domain);
  infer(p.model, *node, standard_types);
  REQUIRE(node->output(0)->type.static_dims());
  uint64_t seed = 7;
  for (Value* out : node->outputs()) {
    if (!out || !is_float(out->type.dtype) || out->output_index >= static_cast<int>(row.in_loss)) continue;
    REQUIRE(out->type.static_dims());
    Value* term = weighted_sum(p, out, ++seed);
    if (p.loss) {
      Node* sum = graph.add_op("Add", {p.loss, term});
      infer(p.model, *sum, standard_types);
      term = sum->output(0);
    }
    p.loss = term;
  }
  return p;
}

/// d loss / d at[k], one element after the other.
std::vector<double> numeric(Executable& loss, std::vector<Datum> at, size_t k) {
  constexpr double kStep = 1e-5;
  const Tensor x = at[k].tensor();
  std::vector<double> slopes;
  for (int64_t i = 0; i < x.size(); ++i) {
    double sides[2];
    for (int side = 0; side < 2; ++side) {
      Tensor moved = x;
      moved.mutable_data<double>()[i] += side == 0 ? -kStep : kStep;
      at[k] = moved;
      sides[side] = loss.run(at)[0].tensor().data<double>()[0];
    }
    slopes.push_back((sides[1] - sides[0]) / (2 * kStep));
  }
  return slopes;
}

void check_gradient(const GradCase& row, double tolerance) {
  Problem p = problem_of(row);
  Model forward = clone(p.model);
  forward.graph->add_output(forward.graph->find(p.loss->name));
  const auto loss = reference_backend()->compile(forward, {});
  const std::vector<Value*> grads = add_gradients(p.model, p.loss, p.wrt, standard_types);
  std::vector<size_t> given;
  for (size_t k = 0; k < grads.size(); ++k)
    if (grads[k]) {
      p.model.graph->add_output(grads[k]);
      given.push_back(k);
    }
  const std::vector<Tensor> analytic = given.empty() ? std::vector<Tensor>{} : reference_outputs(p.model, p.at);
  for (size_t k = 0; k < grads.size(); ++k) {
    const std::vector<double> slopes = numeric(*loss, p.at, k);
    double largest = 1e-3;
    for (const double s : slopes) largest = std::max(largest, std::fabs(s));
    const auto place = std::find(given.begin(), given.end(), k);
    for (size_t i = 0; i < slopes.size(); ++i) {
      const double found =
          place == given.end() ? 0 : analytic[static_cast<size_t>(place - given.begin())].data<double>()[i];
      INFO(row.op << ", trained input " << k << ", element " << i << ": " << found << ", numerically " << slopes[i]);
      REQUIRE(std::fabs(found - slopes[i]) <= tolerance * largest);
    }
    if (place != given.end()) {
      INFO(row.op << ", input " << k);
      REQUIRE(analytic[static_cast<size_t>(place - given.begin())].dims() == p.at[k].tensor().dims());
    }
  }
}

}  // namespace

std::vector<Tensor> reference_outputs(const Model& model, const std::vector<Datum>& at) {
  std::vector<Tensor> outputs;
  for (const Datum& d : reference_backend()->compile(model, {})->run(at)) outputs.push_back(d.tensor());
  return outputs;
}

Tensor real(Dims dims, double low, double high, uint64_t seed) {
  return uniform(std::move(dims), low, high, DType::kF64, seed);
}

void check_gradients(const std::vector<GradCase>& rows, double tolerance) {
  for (const GradCase& row : rows) {
    INFO(row.op);
    check_gradient(row, tolerance);
  }
}

}  // namespace mlopt::test
