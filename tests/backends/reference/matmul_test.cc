#include <cmath>

#include "core/tensor/cast.h"
#include "core/tensor/dims.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::test {
namespace {

/// NumPy's matmul by its definition, in double, for operands of rank 2 or more.
Tensor plain_product(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = to_doubles(a), y = to_doubles(b);
  const int64_t m = a.dim(a.rank() - 2), k = a.dim(a.rank() - 1), n = b.dim(b.rank() - 1);
  const Dims batch_a(a.dims().begin(), a.dims().end() - 2), batch_b(b.dims().begin(), b.dims().end() - 2);
  Dims dims = broadcast(batch_a, batch_b);
  const int64_t count = element_count(dims);
  const auto offset = [&](int64_t flat, const Dims& own) {
    int64_t result = 0, step = 1;
    for (size_t i = 0; i < own.size(); ++i) {
      const size_t axis = dims.size() - 1 - i;
      result += own[own.size() - 1 - i] == 1 ? 0 : flat % dims[axis] * step;
      step *= own[own.size() - 1 - i];
      flat /= dims[axis];
    }
    return result;
  };
  std::vector<double> out;
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t r = 0; r < m; ++r) {
      for (int64_t c = 0; c < n; ++c) {
        double sum = 0;
        for (int64_t p = 0; p < k; ++p)
          sum += x[static_cast<size_t>((offset(i, batch_a) * m + r) * k + p)] *
                 y[static_cast<size_t>((offset(i, batch_b) * k + p) * n + c)];
        out.push_back(sum);
      }
    }
  }
  dims.push_back(m);
  dims.push_back(n);
  return tensor(dims, out, a.dtype());
}

}  // namespace

TEST_CASE("MatMul broadcasts batches of matrices") {
  struct Case {
    Dims a, b;
  };
  const Case cases[] = {{{3, 4}, {4, 5}},          {{2, 3, 4}, {4, 5}},          {{3, 4}, {2, 4, 5}},
                        {{2, 1, 3, 4}, {5, 4, 2}}, {{1, 2, 7, 9}, {3, 1, 9, 8}}, {{0, 3, 4}, {4, 5}},
                        {{3, 0}, {0, 5}},          {{2, 40, 30}, {2, 30, 50}}};
  for (const Case& c : cases) {
    INFO(to_string(c.a) << " times " << to_string(c.b));
    for (const DType type : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI32, DType::kU64}) {
      const bool whole = is_integer(type);
      const Tensor a = uniform(c.a, whole ? 0 : -2, 9, type, 1), b = uniform(c.b, whole ? 0 : -2, 9, type, 2);
      const double tolerance = type == DType::kF64    ? 1e-14
                               : type == DType::kF16  ? 1e-3
                               : type == DType::kBF16 ? 8e-3
                                                      : 1e-5;
      require_close(run_op("MatMul", {a, b}), plain_product(a, b), tolerance);
    }
  }
}

TEST_CASE("MatMul takes vectors") {
  const Tensor a = tensor({3}, {1, 2, 3}), b = tensor({3}, {4, 5, 6}), m = tensor({3, 2}, {1, 2, 3, 4, 5, 6});
  require_close(run_op("MatMul", {a, b}), tensor({}, {32}));
  require_close(run_op("MatMul", {a, m}), tensor({2}, {22, 28}));
  require_close(run_op("MatMul", {tensor({2, 3}, {1, 2, 3, 4, 5, 6}), b}), tensor({2}, {32, 77}));
  require_close(run_op("MatMul", {tensor({2, 1, 3}, {1, 2, 3, 4, 5, 6}), b}), tensor({2, 1}, {32, 77}));
}

TEST_CASE("MatMul of small integers wraps as its type does") {
  const Tensor big = tensor({1, 1}, {65536.0 * 32768}, DType::kU32), two = tensor({1, 1}, {2}, DType::kU32);
  require_close(run_op("MatMul", {big, two}), tensor({1, 1}, {0}, DType::kU32));
}

TEST_CASE("MatMul refuses shapes that do not fit") {
  CHECK(error_of("MatMul", {tensor({2, 3}, {1, 2, 3, 4, 5, 6}), tensor({2}, {1, 2})}).find("inner dimensions") !=
        std::string::npos);
  CHECK(error_of("MatMul", {tensor({}, {1}), tensor({1}, {1})}).find("scalar") != std::string::npos);
}

TEST_CASE("Det gives determinants") {
  require_close(run_op("Det", {tensor({2, 2}, {0, 2, 3, 4})}), tensor({}, {-6}));
  const Tensor batch = tensor({2, 3, 3}, {2, 0, 1, 1, 3, 2, 1, 1, 1, 1, 2, 3, 2, 4, 6, 1, 1, 1});
  require_close(run_op("Det", {batch}), tensor({2}, {0, 0}), 1e-6);
  require_close(run_op("Det", {tensor({1, 3, 3}, {2, 0, 1, 1, 3, 2, 1, 1, 4}, DType::kF64)}),
                tensor({1}, {18}, DType::kF64));
  require_close(run_op("Det", {tensor({0, 2, 2}, {})}), tensor({0}, {}));
  error_of("Det", {tensor({2, 3}, {1, 2, 3, 4, 5, 6})});
}

}  // namespace mlopt::test
