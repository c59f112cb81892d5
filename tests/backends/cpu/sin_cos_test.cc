#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {

TEST_CASE("sines and cosines near and far, and of what is no number") {
  for (const char* op : {"Sin", "Cos"}) {
    for (const double range : {1e-3, 4.0, 1000.0, 29000.0, 1e9})
      require_as_reference(op, {uniform({3, 700}, -range, range)}, {}, 3e-7);
    require_as_reference(op, {tensor({7}, {0, -0.0, INFINITY, -INFINITY, NAN, 1e-40, 3e38})}, {}, 3e-7);
    require_as_reference(op, {uniform({2, 0}, 0, 1)}, {}, 0);
  }
}

}  // namespace mlopt::test
