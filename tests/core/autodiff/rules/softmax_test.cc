#include "tests/support/catch.h"
#include "tests/support/gradients.h"

namespace mlopt::test {

std::vector<GradCase> softmax_cases() {
  std::vector<GradCase> rows;
  for (const char* op : {"Softmax", "LogSoftmax"}) {
    rows.push_back({op, {real({3, 4, 2})}});
    rows.push_back({op, {real({5})}});
    for (const int axis : {0, 1, -2})
      for (const int64_t opset : {11, 13}) rows.push_back({op, {real({3, 4, 2})}, {{attr("axis", axis)}, opset}});
    rows.push_back({op, {real({3, 4})}, {.opset = 7}});
  }
  return rows;
}

TEST_CASE("gradients of softmaxes") { check_gradients(softmax_cases()); }

}  // namespace mlopt::test
