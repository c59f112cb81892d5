#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {

TEST_CASE("LpNormalization along any axis gives what the reference gives") {
  for (const int64_t p : {1, 2})
    for (const Dims& dims : {Dims{3, 5}, Dims{2, 3, 1000}, Dims{1, 1}, Dims{4, 7, 3, 9}, Dims{17}, Dims{300, 2}})
      for (int64_t axis = -static_cast<int64_t>(dims.size()); axis < static_cast<int64_t>(dims.size()); ++axis) {
        INFO("p " << p << " of " << to_string(dims) << " along " << axis);
        require_as_reference("LpNormalization", {uniform(dims, -30, 30)}, {.attrs = {{"axis", axis, ""}, {"p", p, ""}}},
                             2e-6);
      }
}

TEST_CASE("LpNormalization of numbers whose sums float32 does not hold") {
  const Tensor x = tensor({4, 3}, {0, 0, 0, 1e-25, 2e-25, -3e-25, 1e25, 2e25, 0, INFINITY, 1, std::nan("")});
  for (const int64_t p : {1, 2})
    for (const int64_t axis : {0, 1})
      require_as_reference("LpNormalization", {x}, {.attrs = {{"axis", axis, ""}, {"p", p, ""}}}, 1e-6);
}

TEST_CASE("LpNormalization of long columns") {
  const Tensor x = Tensor::of<float>({200000, 2}, std::vector<float>(400000, 0.1F));
  for (const int64_t p : {1, 2})
    require_as_reference("LpNormalization", {x}, {.attrs = {{"axis", int64_t{0}, ""}, {"p", p, ""}}}, 1e-6);
}

}  // namespace mlopt::test
