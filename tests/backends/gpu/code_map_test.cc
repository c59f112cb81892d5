#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

namespace mlopt::test {
namespace {

constexpr DType kI8 = DType::kI8, kU8 = DType::kU8;

Tensor codes(Dims dims, DType type, uint64_t seed) {
  return type == kU8 ? uniform(std::move(dims), 0, 256, type, seed) : uniform(std::move(dims), -128, 128, type, seed);
}

}  // namespace

TEST_CASE("functions of codes on a GPU") {
  const OpOptions microsoft{.domain = "com.microsoft"};
  for (const DType type : {kU8, kI8}) {
    const auto zero = [&](double z) { return tensor({}, {z}, type); };
    const Tensor a = codes({2, 3, 4, 5}, type, 1), b = codes({2, 3, 4, 5}, type, 2), c = codes({3, 1, 1}, type, 3),
                 s = tensor({}, {0.031}), t = tensor({}, {0.017}), y = tensor({}, {0.05});
    for (const char* op : {"QLinearAdd", "QLinearMul"})
      for (const Tensor& other : {b, c})
        require_on_gpu(op, {a, s, zero(11), other, t, zero(20), y, zero(7)}, microsoft, 0);
    require_on_gpu("QLinearSigmoid", {a, s, zero(100), tensor({}, {1.0 / 256}), zero(0)}, microsoft, 0);
    require_on_gpu("QLinearLeakyRelu", {a, s, zero(100), y, zero(50)},
                   {.attrs = {attr("alpha", 0.2f)}, .domain = "com.microsoft"}, 0);
    require_on_gpu("QLinearConcat", {y, zero(3), a, s, zero(9), codes({2, 2, 4, 5}, type, 4), t, zero(1)},
                   {.attrs = {attr("axis", 1)}, .domain = "com.microsoft"}, 0);
    require_on_gpu("QLinearGlobalAveragePool", {a, s, zero(9), t, zero(30)}, microsoft, 0);
    require_on_gpu("MaxPool", {a}, {.attrs = {attr("kernel_shape", std::vector<int64_t>{2, 3})}}, 0);
  }
}

}  // namespace mlopt::test
