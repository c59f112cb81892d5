#include <cmath>
#include <limits>

#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

OpOptions on_axis(int axis) { return {.attrs = {attr("axis", axis)}, .domain = "mlopt"}; }

/// What the operator gives, and a gradient of it.
void check(const std::string& op, const Tensor& x, int axis) {
  const Tensor y = run_op(op, {x}, {.attrs = {attr("axis", axis)}});
  require_as_reference(op + "Grad", {y, uniform(x.dims(), -2, 2, DType::kF32, 2)}, on_axis(axis), 2e-5);
}

}  // namespace

TEST_CASE("gradients of softmax along any axis give what the reference gives") {
  for (const char* op : {"Softmax", "LogSoftmax"})
    for (const Dims& dims : {Dims{1}, Dims{5, 1}, Dims{7, 13}, Dims{2, 3, 5, 7}, Dims{3, 40, 33}, Dims{2, 9001}})
      for (int axis = 0; axis < static_cast<int>(dims.size()); ++axis) {
        INFO(op << " of " << to_string(dims) << " along " << axis);
        check(op, uniform(dims, -6, 6), axis);
        check(op, uniform(dims, -6, 6), axis - static_cast<int>(dims.size()));
      }
}

TEST_CASE("gradients of softmax where elements have no share, and of NaN") {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor dy = tensor({2, 9}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  const Tensor y = tensor({2, 9}, {0, 0.5, 0, 0.25, 0, 0, 0.25, 0, 0, 0, 1, 0, NAN, 0, 0, 0, 0, 0});
  const Tensor log = tensor({2, 9}, {-inf, -1, -inf, -2, -200, -3, -4, -inf, -1, 0, -inf, NAN, -1, -1, -2, -3, -4, -5});
  Tensor infinite = dy;
  infinite.mutable_data<float>()[11] = static_cast<float>(inf);
  for (const Tensor& grad : {dy, infinite})
    for (const int axis : {0, 1}) {
      require_as_reference("SoftmaxGrad", {y, grad}, on_axis(axis));
      require_as_reference("LogSoftmaxGrad", {log, grad}, on_axis(axis));
    }
}

TEST_CASE("gradients of softmax of long columns") {
  const Tensor x = Tensor::of<float>({200000, 2}, std::vector<float>(400000, 0.1F));
  for (const char* op : {"SoftmaxGrad", "LogSoftmaxGrad"}) require_as_reference(op, {x, x}, on_axis(0), 5e-5);
}

}  // namespace mlopt::test
