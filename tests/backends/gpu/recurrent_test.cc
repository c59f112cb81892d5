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

TEST_CASE("an LSTM whose gates see the cells on a GPU") {
  const auto part = [](Dims dims, uint64_t seed) { return uniform(std::move(dims), -1, 1, DType::kF32, seed); };
  const OpOptions options{.attrs = {attr("direction", "bidirectional"), attr("hidden_size", 6)}, .outputs = 3};
  require_on_gpu("LSTM",
                 {part({5, 3, 4}, 1), part({2, 24, 4}, 2), part({2, 24, 6}, 3), part({2, 48}, 4), Datum(),
                  part({2, 3, 6}, 5), part({2, 3, 6}, 6), part({2, 18}, 7)},
                 options);
}

TEST_CASE("sequences that end early, or are empty, on a GPU") {
  const auto part = [](Dims dims, uint64_t seed) { return uniform(std::move(dims), -1, 1, DType::kF32, seed); };
  const Tensor lengths = tensor({4}, {5, 2, 0, 3}, DType::kI32), x = part({5, 4, 3}, 1), h = part({2, 4, 6}, 5);
  const std::pair<const char*, int64_t> kinds[] = {{"LSTM", 4}, {"GRU", 3}, {"RNN", 1}};
  for (const auto& [op, gates] : kinds)
    for (const int outputs : {1, 2}) {
      INFO(op << ", " << outputs);
      const OpOptions options{.attrs = {attr("direction", "bidirectional"), attr("hidden_size", 6)},
                              .outputs = outputs};
      require_on_gpu(op, {x, part({2, gates * 6, 3}, 2), part({2, gates * 6, 6}, 3), Datum(), lengths, h}, options);
    }
  require_on_gpu("LSTM", {x, part({1, 24, 3}, 2), part({1, 24, 6}, 3), Datum(), lengths},
                 {.attrs = {attr("direction", "reverse"), attr("hidden_size", 6)}, .outputs = 3});
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
