#include <vector>

#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::test {
namespace {

Attr integer(const char* name, int64_t value) { return {name, value, ""}; }

Tensor transposed(const Tensor& x) { return run_op("Transpose", {x}); }

}  // namespace

TEST_CASE("Gemm multiplies, scales and adds") {
  const Tensor a = tensor({2, 3}, {1, 2, 3, 4, 5, 6}), b = tensor({3, 2}, {1, -1, 0, 2, 1, 1});
  const Tensor product = tensor({2, 2}, {4, 6, 10, 12});
  require_close(run_op("Gemm", {a, b}), product);
  const Attr ta = integer("transA", 1), tb = integer("transB", 1);
  require_close(run_op("Gemm", {transposed(a), b}, {.attrs = {ta}}), product);
  require_close(run_op("Gemm", {a, transposed(b)}, {.attrs = {tb}}), product);
  require_close(run_op("Gemm", {transposed(a), transposed(b)}, {.attrs = {ta, tb}}), product);
  const std::vector<Attr> factors{{"alpha", 0.5F, ""}, {"beta", 10.0F, ""}};
  require_close(run_op("Gemm", {a, b, tensor({2}, {1, 2})}, {.attrs = factors}), tensor({2, 2}, {12, 23, 15, 26}));
  require_close(run_op("Gemm", {a, b, tensor({2, 1}, {1, 2})}, {.attrs = factors}), tensor({2, 2}, {12, 13, 25, 26}));
  require_close(run_op("Gemm", {a, b, tensor({}, {1})}, {.attrs = factors}), tensor({2, 2}, {12, 13, 15, 16}));
  const DType whole = DType::kI32;
  require_close(
      run_op("Gemm", {cast(a, whole), cast(transposed(b), whole), tensor({2}, {1, 2}, whole)}, {.attrs = {tb}}),
      tensor({2, 2}, {5, 8, 11, 14}, whole));
}

TEST_CASE("Gemm of the first opsets flattens what follows the first axis") {
  const Tensor a = tensor({2, 3, 1}, {1, 2, 3, 4, 5, 6}), b = tensor({3, 2}, {1, -1, 0, 2, 1, 1});
  require_close(run_op("Gemm", {a, b, tensor({2}, {0, 0})}, {.attrs = {integer("broadcast", 1)}, .opset = 6}),
                tensor({2, 2}, {4, 6, 10, 12}));
  error_of("Gemm", {a, b}, {.opset = 13});
}

TEST_CASE("Gemm refuses what does not fit") {
  const Tensor a = uniform({2, 3}, -1, 1);
  CHECK(error_of("Gemm", {a, a}).find("inner dimensions") != std::string::npos);
  CHECK(error_of("Gemm", {a, transposed(a), tensor({3}, {1, 2, 3})}).find("broadcast") != std::string::npos);
  error_of("Gemm", {a, transposed(a), tensor({1, 2, 2}, {1, 2, 3, 4})});
}

TEST_CASE("FusedGemm applies its activation") {
  const Tensor a = tensor({1, 2}, {1, 2}), b = tensor({2, 2}, {1, -1, 1, -1});
  const OpOptions options{.attrs = {{"activation", std::string("LeakyRelu"), ""}, {"activation_alpha", 0.5F, ""}},
                          .domain = "com.microsoft"};
  require_close(run_op("FusedGemm", {a, b}, options), tensor({1, 2}, {3, -1.5}));
}

TEST_CASE("MatMulAdd adds a row and another tensor before its activation") {
  const Tensor a = tensor({1, 2}, {1, 2}), b = tensor({2, 2}, {1, 1, -1, -1});
  const Tensor row = tensor({2}, {-1, 2}), addend = tensor({1, 2}, {-5, 1});
  const OpOptions options{.attrs = {{"transB", int64_t{1}, ""},
                                    {"activation", std::string("LeakyRelu"), ""},
                                    {"activation_params", std::vector<float>{0.5f}, ""}},
                          .domain = "mlopt"};
  require_close(run_op("MatMulAdd", {a, b, row, addend}, options), tensor({1, 2}, {-1.5, 0}));
  require_close(run_op("MatMulAdd", {a, b, Datum(), addend}, options), tensor({1, 2}, {-1, -1}));
  OpOptions gelu{.attrs = {{"activation", std::string("FastGelu"), ""}}, .domain = "mlopt"};
  require_close(run_op("MatMulAdd", {a, b, row}, gelu), tensor({1, 2}, {-0.0454023, 0.841192}), 1e-5);
  gelu.attrs[0].value = std::string("Gelu");
  require_close(run_op("MatMulAdd", {a, b, row}, gelu), tensor({1, 2}, {-0.0455003, 0.841345}), 1e-5);
}

TEST_CASE("FusedMatMul transposes matrices and batches") {
  const Tensor a = uniform({2, 3, 4}, -1, 1, DType::kF64, 1), b = uniform({2, 4, 5}, -1, 1, DType::kF64, 2);
  const Tensor product = run_op("MatMul", {a, b});
  const auto swapped = [](const Tensor& x, std::vector<int64_t> order) {
    return run_op("Transpose", {x}, {.attrs = {{"perm", std::move(order), ""}}});
  };
  const auto run = [](const Tensor& x, const Tensor& y, std::vector<Attr> attrs) {
    return run_op("FusedMatMul", {x, y}, {.attrs = std::move(attrs), .domain = "com.microsoft"});
  };
  require_close(run(swapped(a, {0, 2, 1}), b, {integer("transA", 1)}), product, 1e-12);
  require_close(run(a, swapped(b, {0, 2, 1}), {integer("transB", 1)}), product, 1e-12);
  require_close(run(swapped(a, {1, 0, 2}), b, {integer("transBatchA", 1)}), product, 1e-12);
  require_close(run(swapped(a, {2, 0, 1}), b, {integer("transBatchA", 1), integer("transA", 1)}), product, 1e-12);
  std::vector<double> doubled = to_doubles(product);
  for (double& v : doubled) v *= 2;
  require_close(run(a, b, {{"alpha", 2.0F, ""}}), tensor(product.dims(), doubled, DType::kF64), 1e-12);
  error_of("FusedMatMul", {uniform({2, 3}, -1, 1), uniform({3, 2}, -1, 1)},
           {.attrs = {integer("transBatchA", 1)}, .domain = "com.microsoft"});
}

}  // namespace mlopt::test
