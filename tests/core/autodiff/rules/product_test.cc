#include "tests/support/catch.h"
#include "tests/support/gradients.h"

namespace mlopt::test {

std::vector<GradCase> product_cases() {
  std::vector<GradCase> rows;
  const std::pair<Dims, Dims> shapes[] = {
      {{2, 3}, {3, 4}},    {{3}, {3, 4}},       {{2, 3}, {3}},          {{3}, {3}},
      {{5, 2, 3}, {3, 4}}, {{2, 3}, {5, 3, 4}}, {{5, 2, 3}, {5, 3, 4}}, {{5, 1, 2, 3}, {6, 3, 4}},
      {{3}, {5, 3, 4}},    {{5, 2, 3}, {3}},    {{1, 1}, {1, 1}},       {{2, 2, 2, 3}, {1, 2, 3, 1}},
      {{2, 0}, {0, 4}},
  };
  for (const auto& [a, b] : shapes) rows.push_back({"MatMul", {real(a), real(b, -2, 2, 2)}});
  for (const int turn : {0, 1, 2, 3}) {
    const Tensor a = real(turn & 1 ? Dims{3, 2} : Dims{2, 3}), b = real(turn & 2 ? Dims{4, 3} : Dims{3, 4}, -2, 2, 2);
    const std::vector<Attr> attrs = {attr("transA", turn & 1), attr("transB", turn >> 1), attr("alpha", 0.5f),
                                     attr("beta", 1.5f)};
    for (const Dims& c : {Dims{2, 4}, Dims{4}, Dims{2, 1}, Dims{}})
      rows.push_back({"Gemm", {a, b, real(c, -2, 2, 3)}, {.attrs = attrs}});
    rows.push_back({"Gemm", {a, b}, {.attrs = attrs}});
  }
  return rows;
}

TEST_CASE("gradients of matrix products") { check_gradients(product_cases()); }

}  // namespace mlopt::test
