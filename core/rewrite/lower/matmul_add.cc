// Sums with, and an activation of, a product with a constant matrix -> mlopt.MatMulAdd(a, matrix, row, addend), which
// makes them while the numbers are in registers.
#include "core/rewrite/fusion/joined_activation.h"
#include "core/rewrite/lower/passes.h"
#include "core/rewrite/qdq/steps.h"

namespace mlopt::lower {
namespace {

/// A product as MatMulAdd has it.
struct Parts {
  std::vector<Value*> inputs{4, nullptr};
  std::vector<Attr> attrs;
};
enum Input { kLeft, kRight, kRow, kAddend };

/// Is it one row that is added to each row of n numbers?
bool is_row(const Dims& dims, int64_t n) { return n > 1 && element_count(dims) == n && dims.back() == n; }

/// Puts what is added where it belongs; false where it has no place.
bool add(Parts& parts, Value* value, const Dims& product) {
  const auto dims = value->type.static_dims();
  if (!dims || dims->size() > product.size()) return false;
  const bool row = is_row(*dims, product.back());
  if (!row && *dims != product) return false;
  Value*& place = parts.inputs[row && !parts.inputs[kRow] ? kRow : kAddend];
  if (place || (&place == &parts.inputs[kAddend] && *dims != product)) return false;
  place = value;
  return true;
}

Expected<Parts> parts_of(const NodeView& view, const Dims& dims) {
  const Node& node = view.node();
  Parts parts;
  std::copy(node.inputs().begin(), node.inputs().end(), parts.inputs.begin());
  if (!node.domain.empty()) {
    parts.attrs = node.attrs;
  } else if (node.op == "Gemm") {
    Value* c = std::exchange(parts.inputs[kRow], nullptr);
    if (view.get_int("transA", 0) != 0 || view.get_float("alpha", 1) != 1 || view.get_float("beta", 1) != 1)
      return Decline{"the product is scaled or the left operand is swapped"};
    if (c && !add(parts, c, dims)) return Decline{"C is neither a row nor as large as the product"};
    parts.attrs = {{"transB", view.get_int("transB", 0), ""}};
  }
  return parts;
}

/// The shape of a float32 product with a constant matrix that has no activation yet.
Expected<Dims> product_dims(const Node& node) {
  const Tensor* right = node.input(kRight)->known_constant();
  if (!right || right->rank() != 2) return Decline{"the right operand is not a constant matrix"};
  const auto dims = node.output(0)->type.static_dims();
  if (!dims || dims->empty() || node.output(0)->type.dtype != DType::kF32) return Decline{"not float32 of known shape"};
  if (node.attr("activation")) return Decline{"it has an activation"};
  return *dims;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node* product = m.node("product");
  const auto dims = product_dims(*product);
  if (!dims) return dims.error();
  auto parts = parts_of(builder.view(*product), *dims);
  if (!parts) return parts.error();
  if (m.root->op == "Add") {
    if (m.root->output(0)->type.static_dims() != *dims) return Decline{"the sum is larger than the product"};
    if (!add(*parts, m.value("other"), *dims)) return Decline{"the sum has no place for it"};
  } else {
    auto attrs = with_activation(std::move(parts->attrs), *m.root, builder);
    if (!attrs) return attrs.error();
    parts->attrs = *std::move(attrs);
  }
  return Replacement{
      qdq::other_op(m, *product, builder, "MatMulAdd", std::move(parts->inputs), std::move(parts->attrs), "mlopt")};
}

std::vector<Rule> rules() {
  const std::vector<Pattern> inputs{Pattern::any("a"), Pattern::any("b")};
  std::vector<Rule> all;
  for (Pattern product : {Pattern::op("MatMulAdd", inputs).domain("mlopt"), Pattern::op("MatMul|Gemm", inputs)}) {
    product = std::move(product).open().as("product").single_use();
    all.push_back({Pattern::op("Add", {product, Pattern::any("other")}).any_order(), rewrite});
    all.push_back({Pattern::op(kJoiningActivations, {product}).open(), rewrite});
  }
  return all;
}

}  // namespace

const Pass matmul_add = {"matmul_add", "sums and an activation as part of the product before them", rules};

}  // namespace mlopt::lower
