// MatMul(x, W) * c -> MatMul(x, W c), (MatMul(x, W) + b) * c -> MatMul(x, W c) + b c, MatMul(x * c, W) -> MatMul(x, c
// W), BatchNormalization(MatMul(x, W)) -> Gemm(x, W', b'); where rows of more axes are joined for it, as in LeViT,
// BatchNormalization(Reshape(MatMul(x, W))) -> Reshape(MatMul(x, W') + b').
#include "core/rewrite/fusion/fuse_gelu.h"
#include "core/tensor/cast.h"
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

/// W with column n times scale[n]. Declines a weight that others read.
Expected<Tensor> scaled_columns(const Value& w, const std::vector<double>& scale) {
  const Tensor& weight = *w.known_constant();
  if (!w.single_use()) return Decline{"the weight of MatMul is used elsewhere too"};
  std::vector<double> numbers = to_doubles(weight);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] *= scale[i % scale.size()];
  const auto made = tensor_like(weight, weight.dims(), numbers);
  if (!made) return Decline{"the folded weights do not fit their type"};
  return *made;
}

/// The factor of each of `columns` columns of a value of rank `rank`: one number, or one for each.
std::optional<std::vector<double>> by_column(const Tensor& c, int64_t columns, const Value& y, bool divides) {
  if (!y.type.dims || c.rank() > static_cast<int>(y.type.dims->size())) return std::nullopt;
  const bool each = c.size() == columns && c.rank() > 0 && c.dim(c.rank() - 1) == columns;
  if (c.size() != 1 && !each) return std::nullopt;
  std::vector<double> numbers = to_doubles(c);
  if (divides)
    for (double& n : numbers) n = 1 / n;
  numbers.resize(static_cast<size_t>(columns), numbers[0]);
  return numbers;
}

int64_t columns_of(const Tensor& w) { return w.rank() < 2 || w.size() == 0 ? 0 : w.dim(w.rank() - 1); }

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const int64_t columns = columns_of(m.constant("w"));
  const auto scale = columns && builder.opset() >= 7
                         ? by_column(m.constant("c"), columns, *m.value("product"), m.root->op == "Div")
                         : std::nullopt;
  if (!scale) return Decline{"its constant is not by column"};
  Value* b = m.value("b");
  std::optional<Tensor> bias;
  if (b) {
    const Tensor& old = m.constant("b");
    const bool one = m.constant("c").size() == 1;
    if (!one && (old.size() != columns || old.dim(old.rank() - 1) != columns))
      return Decline{"the summand before it is not by column"};
    std::vector<double> numbers = to_doubles(old);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] *= one ? (*scale)[0] : (*scale)[i];
    bias = tensor_like(old, old.dims(), numbers);
    if (!bias) return Decline{"the folded weights do not fit their type"};
  }
  const auto weight = scaled_columns(*m.value("w"), *scale);
  if (!weight) return weight.error();
  Value* y =
      builder.op("MatMul", {m.value("x"), builder.successor(m.value("w"), *weight)}, {}, m.value("product")->type);
  y->producer->name = m.node("product")->name;
  if (!b) return Replacement{y};
  return Replacement{builder.op("Add", {y, builder.successor(b, *bias)}, {}, m.root->output(0)->type)};
}

Expected<Replacement> rewrite_before(const Match& m, Builder& builder) {
  const Tensor &c = m.constant("c"), &w = m.constant("w");
  const auto& dims = m.value("x")->type.dims;
  if (fusion::is_gelu(*m.node("scaled"))) return Decline{"the factor belongs to GELU, which runtimes find by it"};
  if (c.size() != 1 || columns_of(w) == 0) return Decline{"what is before it is no product by one number"};
  if (c.rank() > 0 && (!dims || c.rank() > static_cast<int>(dims->size()))) return Decline{"it may broadcast"};
  const double factor = m.node("scaled")->op == "Div" ? 1 / number_at(c, 0) : number_at(c, 0);
  const auto weight = scaled_columns(*m.value("w"), {factor});
  if (!weight) return weight.error();
  return Replacement{
      builder.op("MatMul", {m.value("x"), builder.successor(m.value("w"), *weight)}, {}, m.root->output(0)->type)};
}

struct Folded {
  Value *weight, *bias;
};

/// The weight and the summand by column that do what BatchNormalization, the root of the match, does.
Expected<Folded> folded_batchnorm(const Match& m, Builder& builder) {
  const auto affine = affine_of(builder.view(*m.root));
  if (!affine) return affine.error();
  const Tensor& w = m.constant("w");
  if (w.rank() != 2 || builder.opset() < 7) return Decline{"its operands are no matrices"};
  if (columns_of(w) != static_cast<int64_t>(affine->scale.size()))
    return Decline{"its channel count differs from MatMul's"};
  const auto weight = scaled_columns(*m.value("w"), affine->scale);
  const auto bias = tensor_like(w, {columns_of(w)}, affine->shift);
  if (!weight) return weight.error();
  if (!bias) return Decline{"the folded weights do not fit their type"};
  Value* new_weight = builder.successor(m.value("w"), *weight);
  return Folded{new_weight, builder.constant(new_weight->name + "_bias", *bias)};
}

Expected<Replacement> rewrite_batchnorm(const Match& m, Builder& builder) {
  const auto& dims = m.value("x")->type.dims;
  if (!dims || dims->size() != 2) return Decline{"its operands are no matrices"};
  const auto folded = folded_batchnorm(m, builder);
  if (!folded) return folded.error();
  return Replacement{builder.op("Gemm", {m.value("x"), folded->weight, folded->bias}, {}, m.root->output(0)->type)};
}

Expected<Replacement> rewrite_joined_rows(const Match& m, Builder& builder) {
  const auto& dims = m.root->output(0)->type.dims;
  if (!dims || dims->size() != 2 || dims->back() != Dim(columns_of(m.constant("w"))))
    return Decline{"its channels are no columns of the product"};
  const auto folded = folded_batchnorm(m, builder);
  if (!folded) return folded.error();
  const Type& type = m.value("product")->type;
  Value* y = builder.op("MatMul", {m.value("x"), folded->weight}, {}, type);
  y->producer->name = m.node("product")->name;
  y = builder.op("Add", {y, folded->bias}, {}, type);
  const Node* rows = m.node("rows");
  std::vector<Value*> inputs = rows->inputs();
  inputs[0] = y;
  return Replacement{builder.op(rows->op, inputs, rows->attrs, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  const auto product = [] {
    return Pattern::op("MatMul", {Pattern::any("x"), Pattern::constant("w")}).as("product").single_use();
  };
  const auto sum = [&] { return Pattern::op("Add", {product(), Pattern::constant("b")}).any_order().single_use(); };
  const auto scaled = [](const char* op) {
    return Pattern::op(op, {Pattern::any("x"), Pattern::constant("c")}).as("scaled").single_use();
  };
  const auto rows = [&] { return Pattern::op("Reshape|Flatten", {product()}).open().as("rows").single_use(); };
  return {{Pattern::op("Mul", {product(), Pattern::constant("c")}).any_order(), rewrite},
          {Pattern::op("Div", {product(), Pattern::constant("c")}), rewrite},
          {Pattern::op("Mul", {sum(), Pattern::constant("c")}).any_order(), rewrite},
          {Pattern::op("Div", {sum(), Pattern::constant("c")}), rewrite},
          {Pattern::op("MatMul", {scaled("Mul").any_order(), Pattern::constant("w")}), rewrite_before},
          {Pattern::op("MatMul", {scaled("Div"), Pattern::constant("w")}), rewrite_before},
          {Pattern::op("BatchNormalization", {product()}).open(), rewrite_batchnorm},
          {Pattern::op("BatchNormalization", {rows()}).open(), rewrite_joined_rows}};
}

}  // namespace

const Pass fold_affine_into_matmul = {
    "fold_affine_into_matmul", "fold BatchNormalization and constant factors into the MatMul next to them", rules};

}  // namespace mlopt::graphopt
