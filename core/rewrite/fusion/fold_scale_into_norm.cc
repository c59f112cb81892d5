// A product after a normalization whose scale is 1, and a sum after one without bias: its scale, and its bias.
#include <algorithm>

#include "core/rewrite/fusion/counting.h"
#include "core/rewrite/fusion/norm.h"
#include "core/rewrite/fusion/passes.h"
#include "core/tensor/cast.h"

namespace mlopt::fusion {
namespace {

bool is_one(const Value* scale) {
  const Tensor* t = scale ? scale->known_constant() : nullptr;
  if (!t) return false;
  const std::vector<double> numbers = to_doubles(*t);
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return x == 1; });
}

/// Has the value the shape of the normalized axes?
bool fits(const Value& v, const Value& scale) {
  const auto dims = v.type.static_dims();
  return dims && dims == scale.type.static_dims() && v.type.dtype == scale.type.dtype;
}

/// The norm with these inputs, before the root: what comes from another node may only be known there.
Value* again(const Node& norm, std::vector<Value*> inputs, Builder& builder) {
  return builder.op(norm.op, std::move(inputs), norm.attrs, norm.output(0)->type);
}

Tensor product(const Tensor& a, const Tensor& b) {
  std::vector<double> numbers = to_doubles(a);
  const std::vector<double> factors = to_doubles(b);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] *= factors[i];
  return cast(Tensor::of<double>(b.dims(), numbers), b.dtype());
}

/// Would the normalization stay for its mean or its deviation?
bool gives_more(const Node& norm) {
  return std::any_of(norm.outputs().begin() + 1, norm.outputs().end(),
                     [](const Value* v) { return v && (v->is_output() || !v->uses.empty()); });
}

Expected<Replacement> scaled(const Match& m, Builder& builder) {
  const Node* norm = m.node("norm");
  if (gives_more(*norm)) return Decline{"its mean or its deviation is used too"};
  Value *scale = m.value("scale"), *own = norm->input(1);
  const Tensor *first = own->known_constant(), *second = scale->known_constant();
  if (norm->input(2) || (!is_one(own) && !(first && second && scale->single_use())))
    return Decline{"the normalization has a scale or a bias"};
  if (!fits(*scale, *own)) return Decline{"the factor is not as long as the normalized axes"};
  if (!is_one(own)) scale = builder.successor(scale, product(*first, *second));
  return Replacement{again(*norm, {norm->input(0), scale}, builder)};
}

Expected<Replacement> shifted(const Match& m, Builder& builder) {
  const Node* norm = m.node("norm");
  Value* bias = m.value("bias");
  if (gives_more(*norm)) return Decline{"its mean or its deviation is used too"};
  if (norm->input(2)) return Decline{"the normalization has a bias"};
  if (!fits(*bias, *norm->input(1))) return Decline{"the addend is not as long as the normalized axes"};
  return Replacement{again(*norm, {norm->input(0), norm->input(1), bias}, builder)};
}

/// A factor or an addend for each channel of x.
std::optional<Tensor> row_of(const Tensor& t, const Value& x) {
  const auto& dims = x.type.dims;
  const auto channels = dims && dims->size() > 2 ? (*dims)[1].value() : std::nullopt;
  return channels && t.dtype() == x.type.dtype ? by_channel(t, *channels, dims->size()) : std::nullopt;
}

Expected<Replacement> by_instance(const Match& m, Builder& builder) {
  const Node* norm = m.node("norm");
  const auto row = row_of(m.constant("row"), *norm->input(0));
  const Tensor* bias = norm->input(2)->known_constant();
  const bool plain = bias && only_number(norm->input(2)) == 0.0;
  const bool factor = m.root->is("Mul");
  if (!row || !plain || (factor && !is_one(norm->input(1)))) return Decline{"no factor or addend for each channel"};
  Value* joined = builder.successor(m.value("row"), *row);
  return Replacement{
      again(*norm, {norm->input(0), factor ? joined : norm->input(1), factor ? norm->input(2) : joined}, builder)};
}

std::vector<Rule> rules() {
  const auto norm = [](std::string_view ops) { return Pattern::op(ops, {}).open().as("norm").single_use(); };
  return {{Pattern::op(
               "Mul", {norm("LayerNormalization|RMSNormalization|SimplifiedLayerNormalization"), Pattern::any("scale")})
               .any_order(),
           scaled},
          {Pattern::op("Add", {norm("LayerNormalization"), Pattern::any("bias")}).any_order(), shifted},
          {Pattern::op("Mul|Add", {norm("InstanceNormalization"), Pattern::constant("row")}).any_order(), by_instance}};
}

}  // namespace

const Pass fold_scale_into_norm = {"fold_scale_into_norm",
                                   "the factor and the addend after a normalization as its inputs", rules};

}  // namespace mlopt::fusion
