#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

namespace mlopt::test {

TEST_CASE("LSTM on a GPU in every direction") {
  const int64_t steps = 7, batch = 3, size = 5, hidden = 6;
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    INFO(direction);
    const int64_t d = std::string_view(direction) == "bidirectional" ? 2 : 1;
    const auto part = [](Dims dims, uint64_t seed) { return uniform(std::move(dims), -1, 1, DType::kF32, seed); };
    const Tensor x = part({steps, batch, size}, 1), w = part({d, 4 * hidden, size}, 2),
                 r = part({d, 4 * hidden, hidden}, 3), bias = part({d, 8 * hidden}, 4), h = part({d, batch, hidden}, 5),
                 c = part({d, batch, hidden}, 6);
    OpOptions options{.attrs = {attr("direction", direction), attr("hidden_size", 6)}};
    require_on_gpu("LSTM", {x, w, r}, options);
    options.outputs = 3;
    require_on_gpu("LSTM", {x, w, r, bias}, options);
    require_on_gpu("LSTM", {x, w, r, bias, Datum(), h, c}, options);
  }
}

TEST_CASE("GRU and RNN on a GPU in every direction") {
  const int64_t steps = 6, batch = 3, size = 5, hidden = 7;
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    INFO(direction);
    const int64_t d = std::string_view(direction) == "bidirectional" ? 2 : 1;
    const auto part = [](Dims dims, uint64_t seed) { return uniform(std::move(dims), -1, 1, DType::kF32, seed); };
    const Tensor x = part({steps, batch, size}, 1), h = part({d, batch, hidden}, 5);
    for (const int linear : {0, 1}) {
      OpOptions options{
          .attrs = {attr("direction", direction), attr("hidden_size", 7), attr("linear_before_reset", linear)}};
      const Tensor w = part({d, 3 * hidden, size}, 2), r = part({d, 3 * hidden, hidden}, 3),
                   bias = part({d, 6 * hidden}, 4);
      require_on_gpu("GRU", {x, w, r}, options);
      options.outputs = 2;
      require_on_gpu("GRU", {x, w, r, bias}, options);
      require_on_gpu("GRU", {x, w, r, bias, Datum(), h}, options);
    }
    const Tensor w = part({d, hidden, size}, 2), r = part({d, hidden, hidden}, 3), bias = part({d, 2 * hidden}, 4);
    OpOptions options{.attrs = {attr("direction", direction), attr("hidden_size", 7)}, .outputs = 2};
    require_on_gpu("RNN", {x, w, r, bias, Datum(), h}, options);
  }
}

}  // namespace mlopt::test
