#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

// Sums of up to 70 products of numbers below 1, in another order than the reference's.
constexpr double kTolerance = 1e-5;

std::vector<Attr> gemm_attrs(bool swap_a, bool swap_b, float alpha, float beta) {
  return {{"transA", int64_t{swap_a}, ""}, {"transB", int64_t{swap_b}, ""}, {"alpha", alpha, ""}, {"beta", beta, ""}};
}

}  // namespace

TEST_CASE("MatMul broadcasts batches as the reference does") {
  struct Case {
    Dims a, b;
  };
  const Case cases[] = {{{3, 4}, {4, 5}},
                        {{2, 3, 4}, {4, 5}},
                        {{3, 4}, {2, 4, 5}},
                        {{2, 1, 3, 4}, {5, 4, 2}},
                        {{1, 2, 7, 9}, {3, 1, 9, 8}},
                        {{2, 3, 4, 5}, {2, 3, 5, 1}},
                        {{1, 70}, {70, 33}},
                        {{4}, {4, 5}},
                        {{3, 4}, {4}},
                        {{4}, {4}},
                        {{6, 2, 4}, {4}},
                        {{4}, {3, 4, 2}},
                        {{2, 3, 1, 5, 4}, {1, 3, 2, 4, 3}}};
  for (const Case& c : cases) {
    INFO(to_string(c.a) << " times " << to_string(c.b));
    require_as_reference("MatMul", {uniform(c.a, -1, 1, DType::kF32, 1), uniform(c.b, -1, 1, DType::kF32, 2)}, {},
                         kTolerance);
  }
}

TEST_CASE("products of every proportion are the reference's") {
  // Few rows, few columns, neither, and many weights, large enough for both of the ways in which they are computed.
  const Dims sizes[] = {{3, 100, 70}, {200, 100, 3}, {500, 80, 1}, {20, 60, 50},
                        {1, 300, 90}, {130, 40, 17}, {9, 600, 450}};
  for (const Dims& size : sizes) {
    INFO(to_string(size));
    const Tensor a = uniform({size[0], size[1]}, -1, 1, DType::kF32, 1),
                 b = uniform({size[1], size[2]}, -1, 1, DType::kF32, 2);
    require_as_reference("MatMul", {a, b}, {}, kTolerance);
    const Tensor swapped = uniform({size[2], size[1]}, -1, 1, DType::kF32, 3);
    std::vector<Attr> attrs = gemm_attrs(false, true, 0.5f, 2);
    attrs.push_back({"activation", std::string("Sigmoid"), ""});
    for (const Dims& dims : {Dims{size[2]}, Dims{size[0], size[2]}, Dims{size[0], 1}})
      require_as_reference("FusedGemm", {a, swapped, uniform(dims, -1, 1, DType::kF32, 4)},
                           {.attrs = attrs, .domain = "com.microsoft"}, kTolerance);
  }
  // The left operand's columns are its rows, the right one is the same matrix for all of them or not.
  const Tensor left = uniform({2, 3, 40, 30}, -1, 1, DType::kF32, 5);
  for (const Dims& dims : {Dims{40, 20}, Dims{3, 40, 20}, Dims{2, 1, 40, 20}}) {
    INFO(to_string(dims));
    require_as_reference("FusedMatMul", {left, uniform(dims, -1, 1, DType::kF32, 6)},
                         {.attrs = {{"transA", int64_t{1}, ""}}, .domain = "com.microsoft"}, kTolerance);
  }
}

TEST_CASE("Gemm swaps, scales and adds as the reference does") {
  const Dims addends[] = {{7}, {1, 7}, {5, 7}, {5, 1}, {}, {1, 1}};
  for (const bool swap_a : {false, true})
    for (const bool swap_b : {false, true}) {
      const Tensor a = uniform(swap_a ? Dims{9, 5} : Dims{5, 9}, -1, 1, DType::kF32, 1);
      const Tensor b = uniform(swap_b ? Dims{7, 9} : Dims{9, 7}, -1, 1, DType::kF32, 2);
      for (const float alpha : {1.0f, 0.5f}) {
        INFO(swap_a << swap_b << " alpha " << alpha);
        require_as_reference("Gemm", {a, b}, {.attrs = gemm_attrs(swap_a, swap_b, alpha, 1)}, kTolerance);
        for (const Dims& dims : addends) {
          INFO("C " << to_string(dims));
          const Tensor c = uniform(dims, -1, 1, DType::kF32, 3);
          require_as_reference("Gemm", {a, b, c}, {.attrs = gemm_attrs(swap_a, swap_b, alpha, alpha + 1)}, kTolerance);
          require_as_reference("Gemm", {a, b, c}, {.attrs = gemm_attrs(swap_a, swap_b, alpha, 1)}, kTolerance);
        }
      }
    }
}

TEST_CASE("FusedMatMul scales and swaps, FusedGemm activates") {
  const Tensor a = uniform({2, 3, 5, 4}, -1, 1), b = uniform({2, 3, 6, 4}, -1, 1, DType::kF32, 2);
  require_as_reference("FusedMatMul", {a, b},
                       {.attrs = {{"transB", int64_t{1}, ""}, {"alpha", 0.125f, ""}}, .domain = "com.microsoft"},
                       kTolerance);
  const Tensor c = uniform({3, 4, 5}, -1, 1), d = uniform({4, 6}, -1, 1, DType::kF32, 2);
  require_as_reference("FusedMatMul", {c, d}, {.attrs = {{"transA", int64_t{1}, ""}}, .domain = "com.microsoft"},
                       kTolerance);
  std::vector<Attr> attrs = gemm_attrs(false, false, 1, 1);
  attrs.push_back({"activation", std::string("Relu"), ""});
  require_as_reference("FusedGemm", {uniform({3, 4}, -1, 1), d, uniform({6}, -1, 1)},
                       {.attrs = attrs, .domain = "com.microsoft"}, kTolerance);
}

TEST_CASE("a few rows by more weights than caches keep give what the reference gives") {
  const Tensor weights = uniform({2900, 2991}, -1, 1, DType::kF32, 2), bias = uniform({2991}, -1, 1);
  for (const int64_t rows : {1, 3, 7}) {
    INFO(rows << " rows");
    require_as_reference("Gemm", {uniform({rows, 2900}, -1, 1), weights, bias}, {.fixed = true}, 1e-4);
  }
}

TEST_CASE("MatMul of empty or unfit operands is the next kernel's") {
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  REQUIRE(run_op("MatMul", {uniform({0, 3}, 0, 1), uniform({3, 2}, 0, 1)}, {.backend = cpu.get()}).dims() ==
          Dims{0, 2});
  REQUIRE(error_of("MatMul", {uniform({2, 3}, 0, 1), uniform({4, 2}, 0, 1)}, {.backend = cpu.get()}).find("MatMul") !=
          std::string::npos);
}

TEST_CASE("MatMulAdd adds a row and another tensor in every proportion") {
  for (const Dims& size : {Dims{3, 100, 70}, Dims{200, 100, 3}, Dims{20, 60, 50}, Dims{1, 300, 90}}) {
    INFO(to_string(size));
    const Tensor a = uniform({2, size[0], size[1]}, -1, 1, DType::kF32, 1),
                 b = uniform({size[2], size[1]}, -1, 1, DType::kF32, 2), row = uniform({size[2]}, -1, 1),
                 addend = uniform({2, size[0], size[2]}, -1, 1, DType::kF32, 4);
    for (const char* activation : {"", "Relu", "FastGelu"}) {
      const OpOptions options{.attrs = {{"transB", int64_t{1}, ""}, {"activation", std::string(activation), ""}},
                              .domain = "mlopt"};
      require_as_reference("MatMulAdd", {a, b, row, addend}, options, kTolerance);
      require_as_reference("MatMulAdd", {a, b, Datum(), addend}, options, kTolerance);
      require_as_reference("MatMulAdd", {a, b, row}, options, kTolerance);
    }
  }
}

}  // namespace mlopt::test
