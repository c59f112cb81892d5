// relu(x) - c relu(-x), relu(x) + c min(x, 0) and relu(x) + c (x - |x|) / 2 -> PRelu(x, c), and LeakyRelu(x) where c is
// one number: what Keras and TensorFlow write for layers that have slopes.
#include <cmath>

#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/numbers.h"
#include "core/tensor/finite.h"
#include "core/tensor/scaled.h"

namespace mlopt::fusion {
namespace {

bool is_zero(const Value* v, const Value& x) { return number_in(v, axes_of(x)) == 0.0; }

/// The factor that v is of min(x, 0); nothing for other values.
std::optional<double> negative_part(const Value* v, const Value* x, const Builder& builder) {
  if (const Node* relu = producer_of(v, "Relu")) {
    const Node* neg = producer_of(relu->input(0), "Neg");
    return neg && neg->input(0) == x ? std::optional(-1.0) : std::nullopt;
  }
  if (const Node* least = producer_of(v, "Min"); least && least->inputs().size() == 2)
    for (const int i : {0, 1})
      if (least->input(i) == x && is_zero(least->input(1 - i), *x)) return 1.0;
  if (const Node* clip = producer_of(v, "Clip"); clip && clip->input(0) == x) {
    const NodeView view = builder.view(*clip);
    const bool open = view.opset() < 11 ? !view.has("min") : !clip->input(1);
    return open && view.number("max", 2, 1) == 0.0 ? std::optional(1.0) : std::nullopt;
  }
  const Node* difference = producer_of(v, "Sub");
  const Node* size = difference && difference->input(0) == x ? producer_of(difference->input(1), "Abs") : nullptr;
  return size && size->input(0) == x ? std::optional(2.0) : std::nullopt;
}

/// The slopes as a constant, before they are scaled: c in factor c (x where x is negative).
struct Slopes {
  const Value* constant = nullptr;
  double factor = 1;
};

/// Products by constants, numbers but for one, down to the negative part of x.
std::optional<Slopes> slopes_of(const Value* v, const Value* x, const Builder& builder) {
  Slopes found;
  for (int depth = 0; depth < 4; ++depth) {
    if (const auto factor = negative_part(v, x, builder)) {
      found.factor *= *factor;
      return found;
    }
    const Node* product = v->single_use() ? producer_of(v, "Mul") : nullptr;
    if (!product) return std::nullopt;
    const int at = product->input(0)->known_constant() ? 0 : 1;
    const Value* c = product->input(at);
    if (!c->known_constant()) return std::nullopt;
    if (const auto number = number_in(c, axes_of(*x))) {
      found.factor *= *number;
    } else if (!found.constant) {
      found.constant = c;
    } else {
      return std::nullopt;
    }
    v = product->input(1 - at);
  }
  return std::nullopt;
}

/// Does broadcasting leave x as it is?
bool repeats_to(const Dims& slopes, const SymDims& x) {
  if (slopes.size() > x.size()) return false;
  for (size_t i = 0; i < slopes.size(); ++i)
    if (const int64_t d = slopes[i]; d != 1 && !x[x.size() - slopes.size() + i].is(d)) return false;
  return true;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  if (!is_float(x->type.dtype) || !x->type.dims) return Decline{"its type is not known"};
  auto slopes = slopes_of(m.value("rest"), x, builder);
  if (!slopes) return Decline{"what is added is not the negative part of the same value times a constant"};
  if (m.root->is("Sub")) slopes->factor = -slopes->factor;
  constexpr const char* kNotFinite = "zeros times its slopes are not zero";
  if (!std::isfinite(static_cast<float>(slopes->factor))) return Decline{kNotFinite};
  const Type& type = x->type;
  if (!builder.has(6, type.dtype, 16)) return Decline{"LeakyRelu and PRelu of bfloat16 need opset 16"};
  if (!slopes->constant) {
    std::vector<Attr> attrs{{"alpha", static_cast<float>(slopes->factor), ""}};
    return Replacement{builder.op("LeakyRelu", {x}, std::move(attrs), type)};
  }
  const Tensor& c = *slopes->constant->known_constant();
  if (builder.opset() < 9 || c.dtype() != type.dtype) return Decline{"PRelu needs opset 9"};
  if (!repeats_to(c.dims(), *type.dims)) return Decline{"the slopes have more axes than what they are for"};
  Tensor made = scaled(c, slopes->factor);
  if (!is_finite(c) || !is_finite(made)) return Decline{kNotFinite};
  return Replacement{builder.op("PRelu", {x, builder.constant(slopes->constant->name, std::move(made))}, {}, type)};
}

std::vector<Rule> rules() {
  const auto relu = [] { return Pattern::op("Relu", {Pattern::any("x")}).single_use(); };
  return {{Pattern::op("Add", {relu(), Pattern::any("rest")}).any_order(), rewrite},
          {Pattern::op("Sub", {relu(), Pattern::any("rest")}), rewrite}};
}

}  // namespace

const Pass fuse_prelu = {"fuse_prelu", "a value where it is positive plus a multiple where it is not, as PRelu", rules};

}  // namespace mlopt::fusion
