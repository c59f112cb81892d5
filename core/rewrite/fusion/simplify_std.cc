// x / (sqrt(c mean(d^2)) + e), a value divided by the standard deviation of its rows where that is kept from zero
// behind the root -> k x / (ReduceL2(d) + k e) with k = sqrt(n / c), for rows of n.
#include <cmath>

#include "core/rewrite/fusion/norm.h"
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/numbers.h"
#include "core/tensor/cast.h"
#include "core/tensor/scaled.h"

namespace mlopt::fusion {
namespace {

/// How many elements the mean is of; nothing where that is not known.
std::optional<double> terms(const MeanSquare& mean) {
  const SymDims& dims = *mean.dividend->type.dims;
  const bool channels = mean.from == MeanSquare::kChannels;
  double count = 1;
  for (size_t i = channels ? 1 : mean.from; i < (channels ? 2 : dims.size()); ++i) {
    const auto length = dims[i].value();
    if (!length || *length < 1) return std::nullopt;
    count *= static_cast<double>(*length);
  }
  return count;
}

/// sqrt(sum(d^2)) over the axes of the mean, which stay as ones.
Value* length_of(const MeanSquare& mean, const Value* root, Builder& builder) {
  const bool channels = mean.from == MeanSquare::kChannels;
  std::vector<int64_t> axes;
  for (size_t i = channels ? 1 : mean.from; i < (channels ? 2 : mean.dividend->type.dims->size()); ++i)
    axes.push_back(static_cast<int64_t>(i));
  if (builder.opset() < 18)
    return builder.op("ReduceL2", {mean.dividend}, {{"axes", axes, ""}, {"keepdims", int64_t{1}, ""}}, root->type);
  Value* list = builder.constant("axes", Tensor::ints(axes));
  return builder.op("ReduceL2", {mean.dividend, list}, {{"keepdims", int64_t{1}, ""}}, root->type);
}

Value* number_like(const char* name, const Value& x, double number, Builder& builder) {
  return builder.constant(name, cast(Tensor::of<double>({}, {number}), x.type.dtype));
}

/// The constant factor of a product that nothing else reads, and the other; nothing for other values.
std::pair<Value*, Value*> factors_of(const Value* x) {
  const Node* product = x->producer && x->producer->is("Mul") && x->single_use() ? x->producer : nullptr;
  for (const int i : {0, 1})
    if (product && product->input(i)->known_constant() && product->input(i)->single_use())
      return {product->input(i), product->input(1 - i)};
  return {nullptr, nullptr};
}

/// k x, in the constant that x is a product by where there is one.
Value* times(Value* x, double k, Builder& builder) {
  const auto [constant, other] = factors_of(x);
  if (!constant) return builder.op("Mul", {x, number_like("scale", *x, k, builder)}, {}, x->type);
  Value* scale = builder.successor(constant, scaled(*constant->known_constant(), k));
  return builder.op("Mul", {other, scale}, {}, x->type);
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Value *root = m.value("root"), *least = m.value("least");
  auto mean = root_mean_square(root, builder);
  if (!mean) std::swap(root, least), mean = root_mean_square(root, builder);
  if (!mean) return Decline{};
  const auto epsilon = number_in(least, mean->dividend->type.dims->size());
  if (!epsilon || mean->epsilon != 0) return Decline{"what is added to the root is no number"};
  if (!root->single_use()) return Decline{"something else reads the root"};
  Value* x = m.value("x");
  if ((x->type.dtype != DType::kF32 && x->type.dtype != DType::kF64) || builder.opset() < 7)
    return Decline{"it is no float of 32 bits or more"};
  const auto count = terms(*mean);
  if (!count) return Decline{"the length of an axis is not known"};
  const double k = std::sqrt(*count / mean->factor);
  Value* length = length_of(*mean, root, builder);
  Value* divisor =
      builder.op("Add", {length, number_like("epsilon", *x, *epsilon * k, builder)}, {}, m.value("divisor")->type);
  // A factor that comes later is joined with this one by itself.
  const Type& type = m.root->output(0)->type;
  if (!factors_of(x).first) return Replacement{times(builder.op("Div", {x, divisor}, {}, type), k, builder)};
  return Replacement{builder.op("Div", {times(x, k, builder), divisor}, {}, type)};
}

std::vector<Rule> rules() {
  Pattern divisor = Pattern::op("Add", {Pattern::any("root"), Pattern::any("least")}).as("divisor").single_use();
  return {{Pattern::op("Div", {Pattern::any("x"), std::move(divisor)}), rewrite}};
}

}  // namespace

const Pass simplify_std = {"simplify_std", "the standard deviation that divides a value as ReduceL2", rules};

}  // namespace mlopt::fusion
