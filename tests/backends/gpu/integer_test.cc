#include "backends/gpu/integer.h"

#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

namespace mlopt::test {
namespace {

constexpr DType kI8 = DType::kI8, kU8 = DType::kU8;

Tensor codes(Dims dims, DType type, uint64_t seed) {
  return type == kU8 ? uniform(std::move(dims), 0, 256, type, seed) : uniform(std::move(dims), -128, 128, type, seed);
}

Tensor scales(int64_t count) { return uniform({count}, 0.001, 0.01, DType::kF32, 9); }

}  // namespace

TEST_CASE("products of codes on a GPU are exact") {
  for (const DType a : {kU8, kI8})
    for (const DType b : {kU8, kI8}) {
      require_on_gpu("MatMulInteger", {codes({67, 35}, a, 1), codes({35, 70}, b, 2)}, {}, 0);
      const Tensor a_zero = tensor({}, {a == kU8 ? 120.0 : -7.0}, a), b_zero = codes({5}, b, 3);
      require_on_gpu("MatMulInteger", {codes({2, 3, 7, 300}, a, 1), codes({3, 300, 5}, b, 2), a_zero, b_zero}, {}, 0);
    }
  const Tensor rows = codes({4}, kU8, 3);
  require_on_gpu("MatMulInteger", {codes({4, 9}, kU8, 1), codes({9, 3}, kI8, 2), rows}, {}, 0);
  require_on_gpu("MatMulInteger", {codes({9}, kU8, 1), codes({9, 3}, kI8, 2)}, {}, 0);
  require_on_gpu("MatMulInteger", {codes({4, 9}, kU8, 1), codes({9}, kI8, 2)}, {}, 0);
}

TEST_CASE("products of codes on a GPU become codes or numbers") {
  for (const DType type : {kU8, kI8}) {
    const Tensor a = codes({3, 6, 33}, type, 1), b = codes({33, 11}, kI8, 2), zero = tensor({}, {5}, type),
                 b_zero = tensor({}, {-3}, kI8);
    require_on_gpu("QLinearMatMul",
                   {a, tensor({}, {0.02}), zero, b, tensor({}, {0.03}), b_zero, tensor({}, {0.9}), zero}, {}, 0);
    require_on_gpu("QLinearMatMul",
                   {a, tensor({}, {0.02}), zero, b, scales(11), codes({11}, kI8, 4), tensor({}, {0.2}), zero}, {}, 0);
    const OpOptions microsoft{.domain = "com.microsoft"};
    require_on_gpu("MatMulIntegerToFloat",
                   {a, b, tensor({}, {0.02}), scales(11), zero, codes({11}, kI8, 4), uniform({11}, -1, 1)}, microsoft);
    require_on_gpu("MatMulIntegerToFloat", {a, b, tensor({}, {0.02}), tensor({1}, {0.1})}, microsoft);
  }
  const Tensor x = uniform({2, 5, 33}, -3, 2);
  const OpOptions microsoft{.domain = "com.microsoft"};
  require_on_gpu("DynamicQuantizeMatMul", {x, codes({33, 11}, kI8, 2), scales(11)}, microsoft);
  require_on_gpu("DynamicQuantizeMatMul",
                 {x, codes({33, 11}, kU8, 2), scales(1), codes({1}, kU8, 3), uniform({11}, -1, 1)}, microsoft);
}

TEST_CASE("Gemm of codes on a GPU in every transposition, to codes and to numbers") {
  const OpOptions plain{.domain = "com.microsoft"};
  for (const int ta : {0, 1})
    for (const int tb : {0, 1})
      for (const double b_zero : {0.0, 3.0}) {
        const Tensor a = codes(ta ? Dims{40, 7} : Dims{7, 40}, kU8, 1),
                     b = codes(tb ? Dims{18, 40} : Dims{40, 18}, kI8, 2),
                     bias = uniform({18}, -3000, 3000, DType::kI32);
        const OpOptions options{.attrs = {attr("transA", ta), attr("transB", tb)}, .domain = "com.microsoft"};
        std::vector<Datum> inputs{a,   tensor({}, {0.02}), tensor({}, {99}, kU8),
                                  b,   scales(18),         tensor({18}, std::vector<double>(18, b_zero), kI8),
                                  bias};
        require_on_gpu("QGemm", inputs, options);
        inputs.insert(inputs.end(), {tensor({}, {0.4}), tensor({}, {120}, kU8)});
        require_on_gpu("QGemm", inputs, options, 0);
        inputs[6] = Datum();
        require_on_gpu("QGemm", inputs, options, 0);
      }
}

TEST_CASE("convolutions of codes on a GPU are exact") {
  const std::vector<Attr> attrs{attr("pads", std::vector<int64_t>{1, 2, 0, 1}),
                                attr("strides", std::vector<int64_t>{2, 1}),
                                attr("dilations", std::vector<int64_t>{1, 2})};
  for (const DType type : {kU8, kI8}) {
    const Tensor x = codes({2, 6, 9, 8}, type, 1), w = codes({70, 6, 3, 2}, kI8, 2), zero = tensor({}, {9}, type);
    require_on_gpu("ConvInteger", {x, w}, {.attrs = attrs}, 0);
    require_on_gpu("ConvInteger", {x, w, zero, tensor({}, {4}, kI8)}, {.attrs = attrs}, 0);
    std::vector<Attr> grouped = attrs;
    grouped.push_back(attr("group", 3));
    const Tensor parts = codes({9, 2, 3, 2}, kI8, 2),
                 bias = tensor({9}, {1000, -2000, 0, 5, 6, -7, 800, 9, 1}, DType::kI32);
    const std::vector<Datum> inputs{x,
                                    tensor({}, {0.02}),
                                    zero,
                                    parts,
                                    scales(9),
                                    tensor({9}, std::vector<double>(9, 0), kI8),
                                    tensor({}, {0.05}),
                                    tensor({}, {100}, type),
                                    bias};
    require_on_gpu("QLinearConv", inputs, {.attrs = grouped}, 0);
    require_on_gpu("QLinearConv", {inputs.begin(), inputs.end() - 1}, {.attrs = grouped}, 0);
  }
  require_on_gpu("ConvInteger", {codes({1, 3, 20}, kU8, 1), codes({4, 3, 5}, kU8, 2)}, {}, 0);
}

}  // namespace mlopt::test
