#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

namespace mlopt::test {

TEST_CASE("gradients of softmax on a GPU") {
  for (const char* of : {"Softmax", "LogSoftmax"})
    for (const int axis : {0, 1, 2}) {
      const OpOptions options{.attrs = {attr("axis", axis)}};
      const Tensor y = run_op(of, {uniform({3, 300, 2}, -3, 3)}, options), dy = uniform({3, 300, 2}, -1, 1);
      OpOptions grad = options;
      grad.domain = "mlopt";
      require_on_gpu(std::string(of) + "Grad", {y, dy}, grad, 1e-5);
    }
}

TEST_CASE("gradients of layer norms on a GPU") {
  for (const Dims& dims : {Dims{7}, Dims{37, 128}, Dims{2, 3, 5, 7}, Dims{3, 900}, Dims{300, 67}})
    for (int axis = 0; axis < static_cast<int>(dims.size()); ++axis)
      for (const int centered : {0, 1}) {
        INFO(to_string(dims) << " from axis " << axis);
        const Tensor scale = uniform(Dims(dims.begin() + axis, dims.end()), -1, 2, DType::kF32, 3);
        require_on_gpu("LayerNormGrad", {uniform(dims, -1, 2), uniform(dims, -1, 1, DType::kF32, 2), scale},
                       {.attrs = {attr("axis", axis), attr("epsilon", 1e-3f), attr("centered", centered)},
                        .domain = "mlopt",
                        .outputs = 3},
                       3e-5);
      }
}

TEST_CASE("gradients of group norms on a GPU") {
  for (const Dims& dims : {Dims{3, 12, 5, 7}, Dims{2, 6, 300}, Dims{70, 4}})
    for (const int groups : {1, 2}) {
      INFO(to_string(dims) << " in " << groups);
      require_on_gpu(
          "GroupNormGrad",
          {uniform(dims, -1, 2), uniform(dims, -1, 1, DType::kF32, 2), uniform({dims[1]}, -1, 2, DType::kF32, 3)},
          {.attrs = {attr("num_groups", groups), attr("epsilon", 1e-3f)}, .domain = "mlopt", .outputs = 3}, 3e-5);
    }
}

}  // namespace mlopt::test
