#include "cli/precision.h"

#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("every precision that may be asked for has its meaning") {
  CHECK(cli::precision_of("fp32") == Precision::kF32);
  CHECK(cli::precision_of("bf16") == Precision::kBF16);
  CHECK(cli::precision_of("fp16") == Precision::kF16);
  CHECK(cli::precision_of("tf32") == Precision::kTF32);
}

TEST_CASE("outputs are compared by name; what cannot be subtracted says why") {
  const Tensor a = Tensor::of<float>({2}, {1, 2}), b = Tensor::of<float>({2}, {1, 2.5f});
  const auto compared = cli::compare_outputs({"x", "y", "z"}, {a, a, Datum()}, {b, Tensor::of<float>({1}, {1}), a});
  REQUIRE(compared.outputs.size() == 3);
  CHECK(compared.outputs[0].name == "x");
  CHECK(compared.outputs[0].difference->max_abs == 0.5);
  CHECK(compared.outputs[1].problem == "has another shape");
  CHECK(compared.outputs[2].problem == "is no tensor");
}
