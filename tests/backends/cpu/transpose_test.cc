#include <algorithm>
#include <numeric>

#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {

TEST_CASE("axes are moved in every order") {
  for (const DType type : {DType::kF32, DType::kI32, DType::kU8}) {
    std::vector<int64_t> perm{0, 1, 2, 3};
    do {
      OpOptions options;
      options.attrs = {{"perm", perm, ""}};
      require_as_reference("Transpose", {uniform({2, 5, 1, 7}, 0, 100, type)}, options, 0);
    } while (std::next_permutation(perm.begin(), perm.end()));
  }
}

TEST_CASE("without a permutation the axes are reversed") {
  require_as_reference("Transpose", {uniform({3, 4, 5}, -1, 1)}, {}, 0);
  require_as_reference("Transpose", {uniform({3}, -1, 1)}, {}, 0);
}

TEST_CASE("NaN, infinities and the bits of integers survive the move") {
  const double inf = std::numeric_limits<double>::infinity();
  require_as_reference("Transpose", {tensor({2, 3}, {inf, -inf, std::nan(""), -0.0, 1e-40, 3})}, {}, 0);
  require_as_reference("Transpose", {tensor({2, 2}, {2147483647, -2147483648.0, 16777217, 5}, DType::kI32)}, {}, 0);
}

}  // namespace mlopt::test
