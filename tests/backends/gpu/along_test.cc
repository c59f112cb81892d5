#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

namespace mlopt::test {

TEST_CASE("running sums on a GPU") {
  for (const int exclusive : {0, 1})
    for (const int reverse : {0, 1}) {
      const OpOptions options{.attrs = {attr("exclusive", exclusive), attr("reverse", reverse)}, .fixed = true};
      for (const int64_t axis : {0, 1, -1})
        require_on_gpu("CumSum", {uniform({3, 5, 300}, -1, 1), Tensor::ints({axis}).reshaped({})}, options);
      require_on_gpu("CumSum", {counting({40}, DType::kI64), Tensor::ints({0}).reshaped({})}, options, 0);
    }
}

TEST_CASE("lines over their length on a GPU") {
  for (const int p : {1, 2})
    for (const int axis : {0, 1, -1})
      require_on_gpu("LpNormalization", {uniform({3, 5, 300}, -1, 1)}, {.attrs = {attr("p", p), attr("axis", axis)}});
  require_on_gpu("LpNormalization", {tensor({2, 2}, {0, 0, 3, 4})});
}

TEST_CASE("triangles on a GPU") {
  for (const int upper : {0, 1}) {
    const OpOptions options{.attrs = {attr("upper", upper)}};
    require_on_gpu("Trilu", {counting({2, 3, 4})}, options, 0);
    for (const int64_t k : {-7, -1, 0, 2, 9})
      require_on_gpu("Trilu", {counting({2, 4, 3}, DType::kI64), Tensor::ints({k}).reshaped({})}, options, 0);
  }
}

}  // namespace mlopt::test
