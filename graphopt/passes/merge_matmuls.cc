// MatMul(MatMul(x, A), B) -> MatMul(x, A B) for constant matrices, where that is less work and no larger.
#include "core/tensor/cast.h"
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Tensor &a = m.constant("a"), &b = m.constant("b");
  if (a.rank() != 2 || b.rank() != 2 || a.dim(1) != b.dim(0) || a.size() == 0 || b.size() == 0)
    return Decline{"its constants are no matrices"};
  if (a.dtype() != b.dtype()) return Decline{"its constants have different types"};
  const int64_t rows = a.dim(0), inner = a.dim(1), columns = b.dim(1);
  if (rows * columns > a.size() + b.size()) return Decline{"the product of its constants is more work than both"};
  if (!m.value("a")->single_use() || !m.value("b")->single_use()) return Decline{"a constant is used elsewhere too"};
  constexpr int64_t kMost = 1'000'000'000;  // a second
  if (a.size() > kMost / columns) return Decline{"the product of its constants takes too long"};
  const std::vector<double> left = to_doubles(a), right = to_doubles(b);
  std::vector<double> product(static_cast<size_t>(rows * columns), 0);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = 0; k < inner; ++k)
      for (int64_t j = 0; j < columns; ++j)
        product[static_cast<size_t>(i * columns + j)] +=
            left[static_cast<size_t>(i * inner + k)] * right[static_cast<size_t>(k * columns + j)];
  const auto weight = tensor_like(a, {rows, columns}, product);
  if (!weight) return Decline{"the product of its constants does not fit their type"};
  return Replacement{
      builder.op("MatMul", {m.value("x"), builder.successor(m.value("a"), *weight)}, {}, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("MatMul", {Pattern::op("MatMul", {Pattern::any("x"), Pattern::constant("a")}).single_use(),
                                  Pattern::constant("b")}),
           rewrite}};
}

}  // namespace

const Pass merge_matmuls = {"merge_matmuls", "multiply two constant matrices that follow each other", rules};

}  // namespace mlopt::graphopt
