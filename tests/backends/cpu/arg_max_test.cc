#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

OpOptions how(int64_t axis, int64_t keep, int64_t last) {
  return {.attrs = {{"axis", axis, ""}, {"keepdims", keep, ""}, {"select_last_index", last, ""}}};
}

}  // namespace

TEST_CASE("the extreme along each axis, the first or the last of equal ones") {
  // Few values, so that most extremes are there more than once.
  for (const DType type : {DType::kF32, DType::kI64, DType::kI32})
    for (const char* op : {"ArgMax", "ArgMin"})
      for (const int64_t last : {0, 1}) {
        for (const int64_t axis : {0, 1, 2, -1})
          require_as_reference(op, {uniform({5, 21, 37}, 0, 6, type)}, how(axis, axis & 1, last), 0);
        for (const int64_t length : {1, 2, 63, 64, 65, 127, 200, 5000})
          require_as_reference(op, {uniform({3, length}, 0, 30, type)}, how(1, 0, last), 0);
        require_as_reference(op, {uniform({2, 3, 1300}, 0, 3, type)}, how(1, 1, last), 0);
      }
}

TEST_CASE("NaN is the extreme, the first of them whichever is asked for") {
  Tensor x = uniform({4, 300}, -1, 1);
  for (const int64_t at : {170, 42, 290, 300, 900 + 299}) x.mutable_data<float>()[at] = std::nanf("");
  x.mutable_data<float>()[600] = INFINITY;
  for (const char* op : {"ArgMax", "ArgMin"})
    for (const int64_t axis : {0, 1})
      for (const int64_t last : {0, 1}) require_as_reference(op, {x}, how(axis, 1, last), 0);
}

}  // namespace mlopt::test
