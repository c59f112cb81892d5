#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

struct Operands {
  Tensor a, b, a_scale, a_zero, b_scale, b_zero;
};

/// Operands with a zero point and a scale for each column of b, or one for all.
Operands operands(const Dims& a, const Dims& b, DType a_type, DType b_type, bool by_column, double half,
                  bool symmetric) {
  const bool a_signed = a_type == DType::kI8, b_signed = b_type == DType::kI8;
  const int64_t n = b.back();
  const double middle = b_signed ? 0 : 128;
  const Dims row = by_column ? Dims{n} : Dims{};
  Operands o;
  o.a = uniform(a, a_signed ? -128 : 0, a_signed ? 127 : 255, a_type, 1);
  o.b = uniform(b, middle - half, middle + half, b_type, 2);
  o.a_scale = tensor({}, {0.02});
  o.a_zero = tensor({}, {a_signed ? 7.0 : 113.0}, a_type);
  o.b_scale = uniform(row, 0.005, 0.02, DType::kF32, 3);
  o.b_zero = symmetric ? uniform(row, middle, middle, b_type) : uniform(row, middle - 9, middle + 9, b_type, 4);
  return o;
}

/// fn(operands) for every type, symmetry and size of the numbers.
template <class Fn>
void for_operands(const Dims& a, const Dims& b, const Fn& fn) {
  for (const double half : {60.0, 118.0})
    for (const DType a_type : {DType::kU8, DType::kI8})
      for (const DType b_type : {DType::kI8, DType::kU8})
        for (const bool by_column : {false, true})
          for (const bool symmetric : {true, false}) {
            INFO(to_string(a) << " " << name(a_type) << " times " << to_string(b) << " " << name(b_type)
                              << " by column " << by_column << " symmetric " << symmetric << " to " << half);
            fn(operands(a, b, a_type, b_type, by_column, half, symmetric));
          }
}

}  // namespace

TEST_CASE("QLinearMatMul gives the reference's steps") {
  for (const auto& [a, b] : {std::pair<Dims, Dims>{{5, 33}, {33, 17}}, {{2, 3, 16}, {16, 8}}, {{1, 64}, {64, 70}}})
    for_operands(a, b, [](const Operands& o) {
      const Tensor scale = tensor({}, {0.05 * 0.02 * 60}),
                   zero = tensor({}, {o.a.dtype() == DType::kI8 ? 1.0 : 128.0}, o.a.dtype());
      require_as_reference("QLinearMatMul", {o.a, o.a_scale, o.a_zero, o.b, o.b_scale, o.b_zero, scale, zero},
                           {.fixed = true}, 0, 1);
    });
  const Operands o = operands({2, 3, 5, 4}, {2, 3, 4, 6}, DType::kU8, DType::kU8, false, 100, false);
  require_as_reference(
      "QLinearMatMul",
      {o.a, o.a_scale, o.a_zero, o.b, o.b_scale, o.b_zero, tensor({}, {0.1}), tensor({}, {99}, DType::kU8)}, {}, 0, 1);
}

TEST_CASE("MatMulInteger is exact") {
  for_operands({5, 33}, {33, 17}, [](const Operands& o) {
    require_as_reference("MatMulInteger", {o.a, o.b, o.a_zero, o.b_zero}, {.fixed = true}, 0);
  });
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  const Operands o = operands({3, 2000}, {2000, 5}, DType::kU8, DType::kI8, false, 127, true);
  const std::vector<Datum> inputs{o.a, o.b, o.a_zero, o.b_zero};
  require_close(run_op("MatMulInteger", inputs, {.fixed = true, .backend = cpu.get()}),
                run_op("MatMulInteger", inputs, {.fixed = true}));
}

TEST_CASE("MatMulIntegerToFloat and DynamicQuantizeMatMul scale and add a row") {
  for_operands({2, 5, 40}, {40, 19}, [](const Operands& o) {
    const Tensor bias = uniform({19}, -2, 2, DType::kF32, 5);
    const OpOptions options{.domain = "com.microsoft", .fixed = true};
    require_as_reference("MatMulIntegerToFloat", {o.a, o.b, o.a_scale, o.b_scale, o.a_zero, o.b_zero, bias}, options,
                         1e-5);
    require_as_reference("MatMulIntegerToFloat", {o.a, o.b, o.a_scale, o.b_scale, o.a_zero, o.b_zero}, options, 1e-5);
    // One step of the left operand, should its rounding differ.
    require_as_reference("DynamicQuantizeMatMul", {uniform({3, 40}, -1, 2), o.b, o.b_scale, o.b_zero, bias}, options,
                         2e-2);
  });
}

TEST_CASE("QGemm takes a swapped right operand and a bias in steps") {
  for_operands({5, 33}, {33, 17}, [](const Operands& o) {
    const Tensor bias = uniform({17}, -3000, 3000, DType::kI32, 5);
    const OpOptions options{.domain = "com.microsoft", .fixed = true};
    require_as_reference("QGemm", {o.a, o.a_scale, o.a_zero, o.b, o.b_scale, o.b_zero, bias}, options, 1e-5);
    const Tensor scale = tensor({}, {0.05}), zero = tensor({}, {o.a.dtype() == DType::kI8 ? 1.0 : 128.0}, o.a.dtype());
    require_as_reference("QGemm", {o.a, o.a_scale, o.a_zero, o.b, o.b_scale, o.b_zero, bias, scale, zero}, options, 0,
                         1);
  });
  Operands o = operands({5, 33}, {17, 33}, DType::kU8, DType::kI8, false, 127, true);
  o.b_scale = uniform({17}, 0.01, 0.02);
  o.b_zero = tensor({17}, std::vector<double>(17, 0), DType::kI8);
  require_as_reference("QGemm", {o.a, o.a_scale, o.a_zero, o.b, o.b_scale, o.b_zero},
                       {.attrs = {{"transB", int64_t{1}, ""}}, .domain = "com.microsoft", .fixed = true}, 1e-5);
}

TEST_CASE("alpha of QGemm scales the bias too") {
  const Operands o = operands({5, 33}, {33, 17}, DType::kU8, DType::kI8, false, 60, true);
  const Tensor bias = uniform({17}, -3000, 3000, DType::kI32, 5);
  require_as_reference("QGemm", {o.a, o.a_scale, o.a_zero, o.b, o.b_scale, o.b_zero, bias},
                       {.attrs = {{"alpha", 0.5f, ""}}, .domain = "com.microsoft", .fixed = true}, 1e-5);
}

}  // namespace mlopt::test
