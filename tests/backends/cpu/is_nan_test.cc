#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {

TEST_CASE("IsNaN gives what the reference gives") {
  require_as_reference("IsNaN", {tensor({2, 3}, {0, std::nan(""), INFINITY, -std::nan(""), -INFINITY, 1e-40})}, {}, 0);
  Tensor large = uniform({3, 40000}, -1, 1);
  for (int64_t i = 0; i < large.size(); i += 7) large.mutable_data<float>()[i] = std::nanf("");
  require_as_reference("IsNaN", {large}, {}, 0);
}

}  // namespace mlopt::test
