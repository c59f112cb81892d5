#include "core/autodiff/rules.h"

namespace mlopt::autodiff {
namespace {

Value* product(GradArgs& a, Value* left, bool turn_left, Value* right, bool turn_right, double alpha = 1) {
  return a.op("Gemm", {left, right},
              {{"alpha", static_cast<float>(alpha), {}},
               {"transA", int64_t{turn_left}, {}},
               {"transB", int64_t{turn_right}, {}}});
}

/// The last two axes exchanged.
Value* turned(GradArgs& a, Value* x) {
  std::vector<int64_t> order(a.dims(x).size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return a.transposed(x, order);
}

/// Rows of all leading axes as one.
Value* rows(GradArgs& a, Value* x) {
  const Dims dims = a.dims(x);
  return a.reshaped(x, {element_count({dims.begin(), dims.end() - 1}), dims.back()});
}

/// Y = A B with a matrix B: every row of A is a row of one product, so the sum over the leading axes is part of it.
std::vector<Value*> by_matrix(GradArgs& a, Value* left, Value* right, Value* grad) {
  std::vector<Value*> grads(2);
  if (a.needs(0)) grads[0] = a.reshaped(product(a, rows(a, grad), false, right, true), a.dims(left));
  if (a.needs(1)) grads[1] = product(a, rows(a, left), true, rows(a, grad), false);
  return grads;
}

/// A vector on the left is a matrix of one row, on the right of one column.
std::vector<Value*> matmul(GradArgs& a) {
  Dims left = a.dims(a.in(0)), right = a.dims(a.in(1)), out = a.dims(a.out());
  const bool row = left.size() == 1, column = right.size() == 1;
  if (row) left.insert(left.begin(), 1);
  if (row) out.insert(out.end() - (column ? 0 : 1), 1);
  if (column) right.push_back(1);
  if (column) out.push_back(1);
  Value *l = a.reshaped(a.in(0), left), *r = a.reshaped(a.in(1), right), *g = a.reshaped(a.grad(), out);
  if (right.size() == 2) {
    std::vector<Value*> grads = by_matrix(a, l, r, g);
    if (column && grads[1]) grads[1] = a.reshaped(grads[1], a.dims(a.in(1)));
    return grads;
  }
  return {a.needs(0) ? a.op("MatMul", {g, turned(a, r)}) : nullptr,
          a.needs(1) ? a.op("MatMul", {turned(a, l), g}) : nullptr};
}

/// Y = alpha A' B' + beta C.
std::vector<Value*> gemm(GradArgs& a) {
  const bool turn_a = a.view.get_int("transA", 0) != 0, turn_b = a.view.get_int("transB", 0) != 0;
  const double alpha = a.view.get_float("alpha", 1.0f);
  std::vector<Value*> grads(3);
  if (a.needs(0))
    grads[0] = turn_a ? product(a, a.in(1), turn_b, a.grad(), true, alpha)
                      : product(a, a.grad(), false, a.in(1), !turn_b, alpha);
  if (a.needs(1))
    grads[1] = turn_b ? product(a, a.grad(), true, a.in(0), turn_a, alpha)
                      : product(a, a.in(0), !turn_a, a.grad(), false, alpha);
  if (a.needs(2)) grads[2] = a.scaled(a.grad(), a.view.get_float("beta", 1.0f));
  grads.resize(a.view.node().inputs().size());
  return grads;
}

constexpr GradRule kRules[] = {{"Gemm", gemm}, {"MatMul", matmul}};

}  // namespace

std::span<const GradRule> product_rules() { return kRules; }

}  // namespace mlopt::autodiff
