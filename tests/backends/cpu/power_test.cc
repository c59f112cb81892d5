#include <cmath>
#include <limits>

#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

void require_power(const Tensor& x, const Tensor& exponent) {
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  const Tensor expected = run_op("Pow", {x, exponent}, {.fixed = true});
  require_close(run_op("Pow", {x, exponent}, {.fixed = true, .backend = cpu.get()}), expected, 3e-7);
}

}  // namespace

TEST_CASE("powers of positive numbers, small and large") {
  for (const double e : {-2.5, -0.75, 0.1, 0.75, 1.7, 2.2, 10.0, 40.0}) {
    INFO("to the power of " << e);
    require_power(uniform({3, 700}, 1e-6, 5), tensor({}, {e}));
    require_power(uniform({130}, 1e-38, 1e38), tensor({1}, {e}));
    require_power(uniform({130}, 0, 1e-39), tensor({1, 1}, {e}));  // without a leading 1
  }
  require_power(uniform({65}, 1, 2), tensor({}, {4}, DType::kI64));
  require_power(uniform({2, 0}, 0, 1), tensor({}, {1.5}));
}

TEST_CASE("powers of what is not positive") {
  const double inf = std::numeric_limits<double>::infinity();
  for (const double e : {-3.0, -1.5, 0.0, 0.5, 3.5, 5.0, inf, -inf, std::nan("")}) {
    INFO("to the power of " << e);
    require_power(uniform({3, 70}, -2, 2), tensor({}, {e}));
    require_power(uniform({64}, 0.5, 2), tensor({}, {e}));
    require_power(tensor({64}, std::vector<double>(64, 1)), tensor({}, {e}));
    require_power(tensor({8}, {0, -0.0, inf, -inf, std::nan(""), 1, -1, 1e-45}), tensor({}, {e}));
  }
}

}  // namespace mlopt::test
