#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {

TEST_CASE("Softmax and LogSoftmax along any axis give what the reference gives") {
  for (const char* op : {"Softmax", "LogSoftmax"})
    for (const Dims& dims :
         {Dims{3, 5}, Dims{2, 3, 1000}, Dims{1, 1}, Dims{4, 7, 3, 9}, Dims{17}, Dims{300, 2}, Dims{3, 90, 16}})
      for (int64_t axis = -static_cast<int64_t>(dims.size()); axis < static_cast<int64_t>(dims.size()); ++axis) {
        INFO(op << " of " << to_string(dims) << " along " << axis);
        const Tensor x = uniform(dims, -30, 30);
        require_as_reference(op, {x}, {.attrs = {{"axis", axis, ""}}}, 2e-6);
        if (axis >= 0) require_as_reference(op, {x}, {.attrs = {{"axis", axis, ""}}, .opset = 11}, 2e-6);
      }
}

TEST_CASE("old opsets take each element of a vector as a row where no axis is given") {
  for (const char* op : {"Softmax", "LogSoftmax"})
    require_as_reference(op, {uniform({17}, -3, 3)}, {.opset = 11}, 1e-6);
}

TEST_CASE("Softmax of masked and infinite rows") {
  const Tensor x = tensor(
      {5, 3}, {-INFINITY, 0, 1, -INFINITY, -INFINITY, -INFINITY, INFINITY, 0, 1, std::nan(""), 0, 1, 1e30, -1e30, 3});
  require_as_reference("Softmax", {x}, {}, 1e-6);
  require_as_reference("Softmax", {x}, {.attrs = {{"axis", int64_t{0}, ""}}}, 1e-6);
}

TEST_CASE("Softmax of long columns") {
  Tensor x = Tensor::of<float>({200000, 2}, std::vector<float>(400000, 0.0F));
  x.mutable_data<float>()[0] = x.mutable_data<float>()[1] = 2.3F;  // so that the others are no powers of two
  for (const char* op : {"Softmax", "LogSoftmax"})
    require_as_reference(op, {x}, {.attrs = {{"axis", int64_t{0}, ""}}}, 1e-6);
}

}  // namespace mlopt::test
