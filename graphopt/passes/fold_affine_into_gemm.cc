// BatchNormalization, Mul, Div, Add or Sub by column after Gemm(a, B, C) -> Gemm(a, B', C'):
//   B'[:, n] = B[:, n] s[n], C'[.., n] = C[.., n] s[n] + t[n].
#include <algorithm>

#include "core/tensor/cast.h"
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> affine_gemm(const Match& m, const std::vector<double>& scale, const std::vector<double>& shift,
                                  Builder& builder) {
  Node* gemm = m.node("gemm");
  const NodeView view = builder.view(*gemm);
  const bool transposed = view.get_int("transB", 0) != 0;
  const Tensor& weight = m.constant("w");
  if (!gemm->input(1)->single_use()) return Decline{"the weight of Gemm is used elsewhere too"};
  const auto columns = static_cast<int64_t>(scale.size());
  std::vector<double> w = to_doubles(weight);
  for (size_t i = 0; i < w.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    w[i] *= scale[static_cast<size_t>(transposed ? at / weight.dim(1) : at % columns)];
  }
  std::vector<double> b = shift;
  if (m.has("b")) {
    const Tensor& bias = m.constant("b");
    if (bias.size() != 1 && bias.size() != columns) return Decline{"the bias of Gemm is not by column"};
    if (bias.rank() > 0 && bias.dim(bias.rank() - 1) != bias.size())
      return Decline{"the bias of Gemm is not by column"};
    const std::vector<double> old = to_doubles(bias);
    const double beta = view.get_float("beta", 1);
    for (size_t n = 0; n < b.size(); ++n) b[n] += beta * old[old.size() == 1 ? 0 : n] * scale[n];
  }
  const auto new_weight = tensor_like(weight, weight.dims(), w);
  const auto new_bias = tensor_like(weight, {columns}, b);
  if (!new_weight || !new_bias) return Decline{"the folded weights do not fit their type"};
  std::vector<Value*> inputs = {gemm->input(0), builder.successor(gemm->input(1), *new_weight)};
  if (m.has("b") || std::any_of(b.begin(), b.end(), [](double n) { return n != 0; }))
    inputs.push_back(m.has("b") ? builder.successor(gemm->input(2), *new_bias)
                                : builder.constant(inputs[1]->name + "_bias", *new_bias));
  Value* made = builder.op("Gemm", std::move(inputs), gemm->attrs);
  made->producer->remove_attr("beta");
  made->producer->name = gemm->name;
  return Replacement{made};
}

/// Nothing for weights that are not valid, and for opsets in which Gemm broadcasts its bias in another way.
std::optional<int64_t> columns_of(const Match& m, const Builder& builder) {
  const Tensor& w = m.constant("w");
  if (w.rank() != 2 || w.size() == 0 || builder.opset() < 7) return std::nullopt;
  return w.dim(builder.view(*m.node("gemm")).get_int("transB", 0) ? 0 : 1);
}

Expected<Replacement> fold_arithmetic(const Match& m, Builder& builder) {
  const auto columns = columns_of(m, builder);
  const Tensor& c = m.constant("c");
  if (!columns || (c.size() != 1 && c.size() != *columns) || c.rank() > 2)
    return Decline{"its constant is not by column"};
  if (c.size() > 1 && c.dim(c.rank() - 1) != *columns) return Decline{"its constant is not by column"};
  std::vector<double> numbers = to_doubles(c);
  numbers.resize(static_cast<size_t>(*columns), numbers[0]);
  const std::vector<double> ones(numbers.size(), 1.0), zeros(numbers.size(), 0.0);
  if (m.root->op == "Sub")
    for (double& n : numbers) n = -n;
  if (m.root->op == "Div")
    for (double& n : numbers) n = 1 / n;
  const bool factor = m.root->op == "Mul" || m.root->op == "Div";
  return factor ? affine_gemm(m, numbers, zeros, builder) : affine_gemm(m, ones, numbers, builder);
}

Expected<Replacement> fold_batchnorm(const Match& m, Builder& builder) {
  const auto affine = affine_of(builder.view(*m.root));
  if (!affine) return affine.error();
  const auto columns = columns_of(m, builder);
  if (!columns) return Decline{"the weight of Gemm is not valid"};
  if (static_cast<int64_t>(affine->scale.size()) != *columns) return Decline{"its channel count differs from Gemm's"};
  return affine_gemm(m, affine->scale, affine->shift, builder);
}

Pattern gemm() {
  return Pattern::op("Gemm", {Pattern::any("x"), Pattern::constant("w"), Pattern::optional_constant("b")})
      .as("gemm")
      .single_use();
}

std::vector<Rule> rules() {
  return {{Pattern::op("Add|Mul", {gemm(), Pattern::constant("c")}).any_order(), fold_arithmetic},
          {Pattern::op("Sub|Div", {gemm(), Pattern::constant("c")}), fold_arithmetic},
          {Pattern::op("BatchNormalization", {gemm(), Pattern::constant("gamma"), Pattern::constant("beta"),
                                              Pattern::constant("mean"), Pattern::constant("var")}),
           fold_batchnorm}};
}

}  // namespace

const Pass fold_affine_into_gemm = {
    "fold_affine_into_gemm", "fold BatchNormalization and constant factors and summands into the Gemm before them",
    rules};

}  // namespace mlopt::graphopt
