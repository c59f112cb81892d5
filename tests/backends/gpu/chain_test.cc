#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

namespace mlopt::test {

TEST_CASE("chains of elementwise operators on a GPU, longer ones in segments") {
  const Tensor x = uniform({2, 3, 17}, -2, 2), row = uniform({17}, 0.5, 2), whole = uniform({2, 3, 17}, 0.5, 2);
  for (const int repeats : {1, 3, 9}) {
    std::vector<std::string> ops;
    std::vector<float> params;
    std::vector<int64_t> operands;
    std::vector<Datum> inputs{x};
    for (int i = 0; i < repeats; ++i) {
      for (const auto& [op, a] : {std::pair("LeakyRelu", 0.3f), std::pair("Tanh", 0.0f)}) {
        ops.emplace_back(op);
        params.insert(params.end(), {a, 0.0f});
        operands.push_back(0);
      }
      inputs.emplace_back(i % 2 ? row : whole);
      ops.emplace_back(i % 2 ? "Sub" : "Div");
      params.insert(params.end(), {0.0f, 0.0f});
      operands.push_back(static_cast<int64_t>(inputs.size() - 1) * (i % 3 == 1 ? -1 : 1));
    }
    INFO(repeats);
    require_on_gpu(
        "Chain", inputs,
        {.attrs = {attr("ops", ops), attr("params", params), attr("operands", operands)}, .domain = "mlopt"});
  }
}

}  // namespace mlopt::test
