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

TEST_CASE("angles of sines, cosines and tangents, also of what is none") {
  for (const char* op : {"Asin", "Acos", "Atan"}) {
    for (const double range : {1e-3, 0.5, 1.0, 1.5, 1e6})
      require_as_reference(op, {uniform({3, 700}, -range, range)}, {}, 5e-7);
    require_as_reference(op, {tensor({11}, {0, -0.0, 1, -1, 0.5, -0.5, INFINITY, -INFINITY, NAN, 1e-40, 3e38})}, {},
                         5e-7);
  }
}

}  // namespace mlopt::test
