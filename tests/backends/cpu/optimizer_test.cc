#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {

TEST_CASE("updates of tensors of any size give what the reference gives") {
  for (const Dims& dims : {Dims{1}, Dims{7}, Dims{8, 3, 3, 3}, Dims{40000}}) {
    const Tensor p = uniform(dims, -1, 1), g = uniform(dims, -1, 1, DType::kF32, 2);
    const Tensor first = uniform(dims, -1, 1, DType::kF32, 3), second = uniform(dims, 0.1, 1, DType::kF32, 4);
    const Tensor rate = tensor({}, {0.1}), step = tensor({}, {3}), scale = tensor({}, {0.5});
    INFO(to_string(dims));
    require_as_reference("SgdUpdate", {p, g, rate, step, scale}, {.domain = "mlopt"});
    for (const int nesterov : {0, 1})
      require_as_reference("SgdUpdate", {p, first, g, rate, step, scale},
                           {.attrs = {attr("momentum", 0.9f), attr("nesterov", nesterov), attr("weight_decay", 0.01f)},
                            .domain = "mlopt",
                            .outputs = 2});
    for (const char* op : {"AdamUpdate", "AdamWUpdate"})
      require_as_reference(op, {p, first, second, g, rate, step, scale},
                           {.attrs = {attr("weight_decay", 0.01f)}, .domain = "mlopt", .outputs = 3});
  }
}

}  // namespace mlopt::test
