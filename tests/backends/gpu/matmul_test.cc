#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

namespace mlopt::test {

TEST_CASE("products of arrays of matrices on a GPU") {
  const std::pair<Dims, Dims> cases[] = {{{3, 5}, {5, 7}},
                                         {{5}, {5, 7}},
                                         {{3, 5}, {5}},
                                         {{5}, {5}},
                                         {{2, 3, 5}, {5, 7}},
                                         {{2, 3, 5}, {2, 5, 7}},
                                         {{3, 5}, {2, 5, 7}},
                                         {{2, 1, 3, 5}, {4, 5, 7}},
                                         {{2, 4, 3, 5}, {2, 1, 5, 7}},
                                         {{1, 3, 5}, {6, 5, 7}},
                                         {{2, 4, 3, 5}, {1, 1, 5, 7}},
                                         {{80, 4, 3, 5}, {80, 1, 5, 7}},
                                         {{80, 1, 3, 5}, {1, 70, 5, 2}},
                                         {{3, 1, 2, 5, 4}, {1, 2, 1, 4, 6}}};
  for (const auto& [a, b] : cases) {
    INFO(to_string(a) << " by " << to_string(b));
    require_on_gpu("MatMul", {uniform(a, -1, 1), uniform(b, -1, 1, DType::kF32, 2)});
  }
  require_on_gpu("MatMul", {uniform({9, 33}, -1, 1, DType::kF16), uniform({33, 5}, -1, 1, DType::kF16, 2)}, {}, 1e-2);
}

TEST_CASE("fused products on a GPU") {
  for (const int a : {0, 1})
    for (const int b : {0, 1}) {
      const Dims left = a ? Dims{2, 5, 3} : Dims{2, 3, 5}, right = b ? Dims{2, 7, 5} : Dims{2, 5, 7};
      require_on_gpu(
          "FusedMatMul", {uniform(left, -1, 1), uniform(right, -1, 1, DType::kF32, 2)},
          {.attrs = {attr("transA", a), attr("transB", b), attr("alpha", 0.25f)}, .domain = "com.microsoft"});
    }
}

TEST_CASE("Gemm in every transposition and with every C on a GPU") {
  for (const int a : {0, 1})
    for (const int b : {0, 1})
      for (const Dims& c : {Dims{7}, Dims{1, 7}, Dims{3, 1}, Dims{3, 7}, Dims{}, Dims{1}})
        for (const float beta : {1.0f, 0.5f}) {
          INFO(a << b << " " << to_string(c));
          require_on_gpu("Gemm",
                         {uniform(a ? Dims{5, 3} : Dims{3, 5}, -1, 1), uniform(b ? Dims{7, 5} : Dims{5, 7}, -1, 1),
                          uniform(c, -1, 1, DType::kF32, 3)},
                         {.attrs = {attr("transA", a), attr("transB", b), attr("alpha", 0.5f), attr("beta", beta)}});
        }
  require_on_gpu("Gemm", {uniform({3, 5}, -1, 1), uniform({5, 7}, -1, 1)});
}

TEST_CASE("sums and activations of a product on a GPU") {
  const Tensor a = uniform({2, 3, 5}, -1, 1), w = uniform({5, 7}, -1, 1, DType::kF32, 2), row = uniform({7}, -1, 1),
               values = uniform({2, 3, 7}, -1, 1, DType::kF32, 3);
  for (const char* act : {"", "Relu", "Gelu", "FastGelu", "Sigmoid"})
    for (const Datum& r : {Datum(), Datum(row)})
      for (const Datum& v : {Datum(), Datum(values)}) {
        INFO(act);
        std::vector<Attr> attrs;
        if (*act) attrs = {attr("activation", act)};
        require_on_gpu("MatMulAdd", {a, w, r, v}, {.attrs = attrs, .domain = "mlopt"});
      }
}

}  // namespace mlopt::test
