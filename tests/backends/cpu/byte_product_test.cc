#include "backends/cpu/byte_product.h"

#include "core/base/parallel.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::cpu {
namespace {

struct Case {
  Dims a, b;  // [m, k], [k, n]
  DType a_type, b_type;
  double a_zero;
  bool zero_by_column;
};

Tensor zeros_of(const Case& c) {
  if (!c.zero_by_column) return test::tensor({}, {c.b_type == DType::kU8 ? 128.0 : 0.0}, c.b_type);
  return test::uniform({c.b[1]}, c.b_type == DType::kU8 ? 0 : -128, c.b_type == DType::kU8 ? 255 : 127, c.b_type, 3);
}

std::vector<int64_t> sums_of(const Case& c, const Tensor& a, const Tensor& b, const Tensor& zeros) {
  const int64_t m = c.a[0], k = c.a[1], n = c.b[1];
  const auto x = to_ints(a), y = to_ints(b), z = to_ints(zeros);
  std::vector<int64_t> out;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      int64_t total = 0;
      for (int64_t l = 0; l < k; ++l)
        total += (x[static_cast<size_t>(i * k + l)] - static_cast<int64_t>(c.a_zero)) *
                 (y[static_cast<size_t>(l * n + j)] - at(z, j));
      out.push_back(total);
    }
  return out;
}

/// The sums, by a product with constant weights, or with weights known at run time.
std::vector<int64_t> run(const ByteProduct& product, const Case& c, const Tensor& a, const Tensor* b, DType type) {
  Tensor sums(type, {c.a[0], c.b[1]});
  Workspace space;
  const LeftMatrix left{bytes_of(a), static_cast<int32_t>(c.a_zero)};
  if (b)
    product.run(left, {bytes_of(*b), static_cast<int32_t>(to_ints(zeros_of(c))[0])}, sums.mutable_raw(), space);
  else
    product.run(left, sums.mutable_raw(), space);
  return to_ints(sums);
}

void require_sums(const Case& c, const Tensor& a, const Tensor& b) {
  const Tensor zeros = zeros_of(c);
  const std::vector<int64_t> expected = sums_of(c, a, b, zeros);
  RightMatrix right{byte_weights(b, &zeros)};
  const Product product = *product_of(c.a, c.b);
  INFO(to_string(c.a) << " " << name(c.a_type) << " with " << to_string(c.b) << " " << name(c.b_type));
  for (const int threads : {1, 3}) {
    const ThreadScope scope(threads);
    const auto rounded = ByteProduct::plan(product, c.a_type, right);
    REQUIRE(rounded);
    REQUIRE(run(*rounded, c, a, nullptr, DType::kF32) == expected);  // below 2^24: float32 holds them
    if (const auto exact = ByteProduct::plan_exact(product, c.a_type, right))
      REQUIRE(run(*exact, c, a, nullptr, DType::kI32) == expected);
    if (c.zero_by_column) continue;
    const auto unknown = ByteProduct::plan(product);
    REQUIRE(unknown);
    REQUIRE(run(*unknown, c, a, &b, DType::kF32) == expected);
  }
}

}  // namespace

TEST_CASE("sums of products of bytes are exact for every type, size and zero point") {
  for (const Dims& size : {Dims{1, 1, 1}, Dims{3, 7, 5}, Dims{17, 64, 33}, Dims{2, 250, 96}})
    for (const DType a_type : {DType::kU8, DType::kI8})
      for (const DType b_type : {DType::kI8, DType::kU8})
        for (const bool by_column : {false, true}) {
          const Case c{{size[0], size[1]}, {size[1], size[2]}, a_type, b_type, a_type == DType::kU8 ? 131.0 : -7.0,
                       by_column};
          const double a_low = a_type == DType::kU8 ? 0 : -128, b_low = b_type == DType::kU8 ? 0 : -128;
          require_sums(c, test::uniform(c.a, a_low, a_low + 255, a_type, 1),
                       test::uniform(c.b, b_low, b_low + 255, b_type, 2));
        }
}

TEST_CASE("pairs of the largest products do not saturate") {
  // 255 * 127 twice is beyond 16 bits, where older processors add them.
  for (const double weight : {127.0, -128.0, 64.0})
    for (const double source : {255.0, 254.0}) {
      const Case c{{3, 40}, {40, 16}, DType::kU8, DType::kI8, 0, false};
      require_sums(c, test::tensor(c.a, std::vector<double>(120, source), DType::kU8),
                   test::tensor(c.b, std::vector<double>(640, weight), DType::kI8));
    }
  // Neighbours of 127 and 1 fit, wherever a primitive begins a block.
  for (const Dims& size : {Dims{3, 40, 16}, Dims{1, 1030, 7}, Dims{64, 770, 50}, Dims{5, 2, 1}}) {
    const Case c{{size[0], size[1]}, {size[1], size[2]}, DType::kU8, DType::kI8, 0, false};
    std::vector<double> weights;
    for (int64_t k = 0; k < size[1]; ++k)
      for (int64_t n = 0; n < size[2]; ++n)
        weights.push_back(((k + k / 2 % 3 + n) % 2 ? 127 : 1) * (k / 2 % 5 ? -1 : 1));
    require_sums(c, test::uniform(c.a, 250, 255, DType::kU8), test::tensor(c.b, weights, DType::kI8));
  }
}

}  // namespace mlopt::cpu
