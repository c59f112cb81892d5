#include "core/tensor/cast.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

/// [directions, rows, columns] with the last two axes exchanged.
Tensor turned(const Tensor& x) { return run_op("Transpose", {x}, {{attr("perm", std::vector<int64_t>{0, 2, 1})}}); }

TEST_CASE("DynamicQuantizeLSTM is the LSTM of its dequantized weights", "[reference]") {
  const DType type = DType::kI8;
  const int64_t inputs = 3, hidden = 2;
  const auto codes = [&](int64_t rows, uint64_t seed) {
    return run_op("Cast", {uniform({1, rows, 4 * hidden}, -100, 100, DType::kF64, seed)},
                  {{attr("to", static_cast<int>(type))}});
  };
  const Tensor w = codes(inputs, 1), r = codes(hidden, 2), x = uniform({4, 2, inputs}, -1, 1, DType::kF32, 3);
  const Tensor bias = uniform({1, 8 * hidden}, -1, 1, DType::kF32, 4);
  const bool by_gate = GENERATE(false, true);
  const Dims dims = by_gate ? Dims{1, 4 * hidden} : Dims{1};
  const Tensor w_scale = uniform(dims, 0.005, 0.02, DType::kF32, 5),
               r_scale = uniform(dims, 0.005, 0.02, DType::kF32, 6);
  const Tensor zeros = run_op("Cast", {uniform(dims, -9, 9, DType::kF32, 7)}, {{attr("to", static_cast<int>(type))}});
  const auto real = [&](const Tensor& q, const Tensor& scale) {
    const auto wide = [](const Tensor& t) { return cast(t, DType::kF32); };
    return turned(run_op("Mul", {run_op("Sub", {wide(q), wide(zeros)}), scale}));
  };
  const std::vector<Attr> attrs{attr("hidden_size", 2)};
  const std::vector<Datum> outs = run_node("LSTM", {x, real(w, w_scale), real(r, r_scale), bias}, {attrs, 14, {}, 3});
  const Datum none;
  check_cases({{"DynamicQuantizeLSTM",
                {x, w, r, bias, none, none, none, none, w_scale, zeros, r_scale, zeros},
                {attrs, 1, "com.microsoft", 3},
                outs,
                1e-6}});
}

}  // namespace
}  // namespace mlopt::test
