#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

namespace mlopt::test {

TEST_CASE("updates of parameters on a GPU") {
  for (const Dims& dims : {Dims{1}, Dims{7}, Dims{8, 3, 3, 3}, Dims{40000}})
    for (const double number : {1.0, 3000.0}) {
      const Tensor p = uniform(dims, -1, 1), g = uniform(dims, -1, 1, DType::kF32, 2);
      const Tensor first = uniform(dims, -1, 1, DType::kF32, 3), second = uniform(dims, 0.1, 1, DType::kF32, 4);
      const Tensor rate = tensor({}, {0.1}), step = tensor({}, {number}), scale = tensor({}, {0.5});
      INFO(to_string(dims) << ", update " << number);
      require_on_gpu("SgdUpdate", {p, g, rate, step, scale}, {.domain = "mlopt"}, 1e-6);
      for (const int nesterov : {0, 1})
        require_on_gpu("SgdUpdate", {p, first, g, rate, step, scale},
                       {.attrs = {attr("momentum", 0.9f), attr("nesterov", nesterov), attr("weight_decay", 0.01f)},
                        .domain = "mlopt",
                        .outputs = 2},
                       1e-6);
      for (const char* op : {"AdamUpdate", "AdamWUpdate", "LambUpdate"})
        require_on_gpu(op, {p, first, second, g, rate, step, scale},
                       {.attrs = {attr("weight_decay", 0.01f)}, .domain = "mlopt", .outputs = 3}, 2e-6);
    }
  const auto half = [](uint64_t seed) { return uniform({50}, 0.1, 1, DType::kF16, seed); };
  require_on_gpu("AdamUpdate",
                 {half(1), half(2), half(3), half(4), tensor({}, {0.01}), tensor({}, {2}), tensor({}, {1})},
                 {.domain = "mlopt", .outputs = 3}, 2e-3);
  require_on_gpu("LambUpdate",
                 {Tensor::zeros(DType::kF32, {9}), uniform({9}, -1, 1), uniform({9}, 0.1, 1), uniform({9}, -1, 1),
                  tensor({}, {0.01}), tensor({}, {2}), tensor({}, {1})},
                 {.domain = "mlopt", .outputs = 3}, 1e-6);
}

}  // namespace mlopt::test
