// x (1 + erf(x / sqrt 2)) / 2, and its approximation x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, however they
// are spelt -> Gelu(x).
#include "core/rewrite/fusion/fuse_gelu.h"

#include <array>
#include <cmath>

#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/numbers.h"

namespace mlopt::fusion {
namespace {

constexpr int kMostDepth = 8;  ///< of operators between GELU's and what it is made from

/// A sum of x^power times its coefficient.
using Polynomial = std::array<double, 4>;

std::optional<Polynomial> product(const Polynomial& a, const Polynomial& b) {
  Polynomial found{};
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t k = 0; k < b.size(); ++k) {
      if (a[i] == 0 || b[k] == 0) continue;
      if (i + k >= found.size()) return std::nullopt;
      found[i + k] += a[i] * b[k];
    }
  return found;
}

/// The operators that GELU is spelt in, all of one shape but for numbers, which have as many axes at most.
class Spelling {
 public:
  explicit Spelling(const Node& root) : root_(root) {
    if (root.output(0)->type.dims) axes_ = root.output(0)->type.dims->size();
  }

  /// The factors of the root's product: numbers multiplied, and the others.
  struct Factors {
    double number = 1;
    std::vector<Value*> values = {};
  };
  Factors factors() const {
    Factors found;
    take_apart(root_.output(0), found, 0);
    return found;
  }

  /// erf(...) or tanh(...) of 1 + it, that nothing else reads; null for other values.
  const Node* inner_function(const Value* v) const {
    const Node* sum = v->producer;
    if (!sum || !sum->is("Add") || !v->single_use()) return nullptr;
    for (const int i : {0, 1}) {
      const Node* fn = sum->input(i)->producer;
      if (fn && (fn->is("Erf") || fn->is("Tanh")) && fn->output(0)->single_use() &&
          is_number(sum->input(1 - i), 1, axes_))
        return fn;
    }
    return nullptr;
  }

  /// What the operators from x to `v` compute, where that is a polynomial of x.
  std::optional<Polynomial> polynomial(const Value* v, const Value* x, int depth = 0) const {
    if (v == x) return Polynomial{0, 1};
    if (const auto number = number_in(v, axes_)) return Polynomial{*number};
    const Node* node = v->producer;
    if (!node || depth == kMostDepth || node->inputs().size() != 2) return std::nullopt;
    const auto a = polynomial(node->input(0), x, depth + 1);
    if (!a) return std::nullopt;
    if (node->is("Div") || node->is("Pow")) return divided_or_raised(*node, *a);
    const auto b = polynomial(node->input(1), x, depth + 1);
    if (b && node->is("Mul")) return product(*a, *b);
    if (!b || !node->is("Add")) return std::nullopt;
    Polynomial sum = *a;
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += (*b)[i];
    return sum;
  }

 private:
  /// Takes apart the products that nothing else reads.
  void take_apart(Value* v, Factors& found, int depth) const {
    const Node* node = v->producer;
    if (const auto number = number_in(v, axes_)) {
      found.number *= *number;
    } else if (node && node->is("Mul") && (depth == 0 || v->single_use()) && depth < kMostDepth) {
      for (Value* input : node->inputs()) take_apart(input, found, depth + 1);
    } else {
      found.values.push_back(v);
    }
  }

  std::optional<Polynomial> divided_or_raised(const Node& node, const Polynomial& a) const {
    const auto number = number_in(node.input(1), axes_);
    if (!number || *number == 0) return std::nullopt;
    if (node.is("Div")) return product(a, {1 / *number});
    const auto square = product(a, a);
    if (!square || *number == 2) return square;
    return *number == 3 ? product(*square, a) : std::nullopt;
  }

  const Node& root_;
  size_t axes_ = 0;
};

/// What the rounding of two of its numbers to the type makes of a coefficient, relative to it.
double tolerance(DType type) { return type == DType::kF16 ? 1e-3 : type == DType::kBF16 ? 8e-3 : 1e-4; }

bool is(const Polynomial& p, const Polynomial& wanted, double tolerance) {
  for (size_t i = 0; i < p.size(); ++i)
    if (!(std::abs(p[i] - wanted[i]) <= tolerance * std::abs(wanted[i]))) return false;
  return true;
}

/// One number changes the shape of x only where it has more axes.
bool keeps_shape(const Value& x, const Value& y) {
  return x.type.dims ? y.type.dims && x.type.dims->size() == y.type.dims->size() : !y.type.dims;
}

/// Gelu of x, or why the target has none.
Expected<Replacement> write(Value* x, bool by_tanh, Builder& builder) {
  const bool number = x->type.dims && x->type.dims->empty();
  if (builder.target == Target::kOrt && by_tanh && number) return Decline{"FastGelu takes no single number"};
  if (builder.target == Target::kOrt && (x->type.dtype == DType::kF32 || x->type.dtype == DType::kF16))
    return Replacement{builder.contrib(by_tanh ? "FastGelu" : "Gelu", {x}, {}, x->type)};
  if (!builder.has(20)) return Decline{"Gelu needs opset 20"};
  if (builder.target == Target::kKernels && x->type.dtype != DType::kF32) return Decline{"it is not float32"};
  std::vector<Attr> attrs;
  if (by_tanh) attrs.push_back({"approximate", std::string("tanh"), ""});
  return Replacement{builder.op("Gelu", {x}, std::move(attrs), x->type)};
}

/// GELU of x, as it is spelt.
struct Found {
  Value* x;
  bool by_tanh;
};

Expected<Found> gelu_at(const Node& mul) {
  const Spelling spelling(mul);
  const Spelling::Factors f = spelling.factors();
  if (f.values.size() != 2 || !(std::abs(f.number - 0.5) <= 1e-5)) return Decline{"not half of a product of two"};
  const Node* fn = spelling.inner_function(f.values[0]);
  Value* x = f.values[fn ? 1 : 0];
  if (!fn) fn = spelling.inner_function(f.values[1]);
  if (!fn) return Decline{"no factor is 1 + erf or 1 + tanh"};
  if (!is_float(x->type.dtype)) return Decline{"its type is not known"};
  if (!keeps_shape(*x, *mul.output(0))) return Decline{"the numbers have more axes"};
  const auto inner = spelling.polynomial(fn->input(0), x);
  const double root = std::sqrt(2 / M_PI);
  const bool by_tanh = fn->is("Tanh");
  const Polynomial wanted = by_tanh ? Polynomial{0, root, 0, root * 0.044715} : Polynomial{0, std::sqrt(0.5)};
  if (!inner || !is(*inner, wanted, tolerance(x->type.dtype))) return Decline{"another function of x than GELU's"};
  return Found{x, by_tanh};
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const auto found = gelu_at(*m.root);
  if (!found) return found.error();
  return write(found->x, found->by_tanh, builder);
}

std::vector<Rule> rules() { return {{Pattern::op("Mul", {Pattern::any("a"), Pattern::any("b")}), rewrite}}; }

}  // namespace

bool is_gelu(const Node& mul) { return mul.is("Mul") && bool(gelu_at(mul)); }

const Pass fuse_gelu = {"fuse_gelu", "the operators that GELU is exported as, as one", rules};

}  // namespace mlopt::fusion
