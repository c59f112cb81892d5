#include <algorithm>
#include <array>
#include <cmath>

#include "core/tensor/cast.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

constexpr DType kU8 = DType::kU8, kF64 = DType::kF64;

OpOptions contrib(std::vector<Attr> attrs) { return {std::move(attrs), 1, "com.microsoft"}; }

/// Seeded codes of `width` bits, [rows, columns], and the same packed along the columns, the low bits first.
struct Codes {
  std::vector<double> values;
  Tensor packed;
};

Codes make_codes(int64_t rows, int64_t columns, int width, uint64_t seed) {
  const int64_t per_byte = 8 / width, row_bytes = (columns + per_byte - 1) / per_byte;
  const Tensor drawn = run_op("Floor", {uniform({rows, columns}, 0, 1 << width, kF64, seed)});
  Codes codes{to_doubles(drawn), Tensor::zeros(kU8, {rows, row_bytes})};
  uint8_t* bytes = codes.packed.mutable_data<uint8_t>();
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      bytes[r * row_bytes + c / per_byte] = static_cast<uint8_t>(
          bytes[r * row_bytes + c / per_byte] | static_cast<int>(codes.values[static_cast<size_t>(r * columns + c)])
                                                    << (width * (c % per_byte)));
  return codes;
}

/// A [m, k] times W' with W [n, k].
std::vector<double> product(const Tensor& a, const std::vector<double>& w, int64_t n) {
  const int64_t k = a.dim(1);
  std::vector<double> out;
  for (int64_t i = 0; i < a.dim(0); ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += number_at(a, i * k + p) * w[static_cast<size_t>(j * k + p)];
      out.push_back(sum);
    }
  return out;
}

TEST_CASE("MatMulNBits takes each row's scale from the block that g_idx names", "[reference]") {
  const int64_t n = 3, k = 40, blocks = 3, length = 48;
  const Codes codes = make_codes(n, length, 4, 1);
  const Tensor a = uniform({2, k}, -1, 1, kF64, 3), scales = uniform({n, blocks}, 0.1, 1, kF64, 4);
  std::vector<double> groups, weights;
  for (int64_t p = 0; p < k; ++p) groups.push_back(static_cast<double>((p * 7 + 2) % blocks));
  for (int64_t j = 0; j < n; ++j)
    for (int64_t p = 0; p < k; ++p)
      weights.push_back((codes.values[static_cast<size_t>(j * length + p)] - 8) *
                        number_at(scales, j * blocks + (p * 7 + 2) % blocks));
  const OpOptions options = contrib({attr("N", 3), attr("K", 40), attr("bits", 4), attr("block_size", 16)});
  const Tensor expected = tensor({2, 3}, product(a, weights, 3), kF64);
  const Tensor index = tensor({k}, groups, DType::kI32), short_index = tensor({2}, {0, 1}, DType::kI32);
  check_cases({{"MatMulNBits", {a, codes.packed, scales, Datum(), index}, options, {expected}, 1e-12}});
  const Tensor outside = tensor({k}, std::vector<double>(static_cast<size_t>(k), 3), DType::kI32);
  check_errors({
      {"MatMulNBits", {a, codes.packed, scales, Datum(), short_index}, options, "g_idx"},
      {"MatMulNBits", {a, codes.packed, scales, Datum(), outside}, options, "g_idx"},
  });
}

TEST_CASE("MatMulNBits of every width, with each form of zero points", "[reference]") {
  const int width = GENERATE(2, 4, 8);
  const auto [n, k, block, blocks] = std::array<int64_t, 4>{3, 40, 16, 3};  // the last block is half empty
  const Codes codes = make_codes(n, blocks * block, width, 1), packed_zeros = make_codes(n, blocks, width, 2);
  const Tensor a = uniform({2, k}, -1, 1, kF64, 3), scales = uniform({n, blocks}, 0.1, 1, kF64, 4);
  const Tensor float_zeros = uniform({n, blocks}, 0, 3, kF64, 5), bias = uniform({n}, -1, 1, kF64, 6);
  const auto weights = [&, n = n, k = k, block = block, blocks = blocks](const auto& zero_of) {
    std::vector<double> w;
    for (int64_t j = 0; j < n; ++j)
      for (int64_t p = 0; p < k; ++p) {
        const int64_t b = j * blocks + p / block;
        w.push_back((codes.values[static_cast<size_t>(j * blocks * block + p)] - zero_of(b)) * number_at(scales, b));
      }
    return w;
  };
  const OpOptions options = contrib({attr("N", 3), attr("K", 40), attr("bits", width), attr("block_size", 16)});
  const auto expect = [&](const std::vector<double>& w) { return tensor({2, 3}, product(a, w, 3), kF64); };
  const double middle = std::pow(2, width - 1);
  check_cases({
      {"MatMulNBits", {a, codes.packed, scales}, options, {expect(weights([&](int64_t) { return middle; }))}, 1e-12},
      {"MatMulNBits",
       {a, codes.packed, scales, packed_zeros.packed},
       options,
       {expect(weights([&](int64_t b) { return packed_zeros.values[static_cast<size_t>(b)]; }))},
       1e-12},
      {"MatMulNBits",
       {a, codes.packed, scales, float_zeros},
       options,
       {expect(weights([&](int64_t b) { return static_cast<double>(static_cast<float>(number_at(float_zeros, b))); }))},
       1e-12},
  });
  const Tensor without = run_op("MatMulNBits", {a, codes.packed, scales}, options);
  check_cases({{"MatMulNBits",
                {a, codes.packed, scales, Datum(), Datum(), bias},
                options,
                {run_op("Add", {without, bias})},
                1e-12}});
  check_errors({
      {"MatMulNBits", {a, counting({5}, kU8), scales}, options, "size"},
      {"MatMulNBits", {a, codes.packed, counting({2}, kF64)}, options, "scale for each block"},
      {"MatMulNBits",
       {a, codes.packed, scales},
       contrib({attr("N", 3), attr("K", 40), attr("bits", 3), attr("block_size", 16)}),
       "bits"},
      {"MatMulNBits",
       {a, codes.packed, scales},
       contrib({attr("N", 3), attr("K", -1), attr("block_size", 16)}),
       "positive"},
  });
}

TEST_CASE("MatMulNBits of accuracy level 4 rounds what it multiplies to bytes, block by block", "[reference]") {
  const int64_t n = 3, k = 40, block = 16, blocks = 3;
  const Codes codes = make_codes(n, blocks * block, 4, 1);
  const Tensor a = uniform({2, k}, -1, 1), scales = uniform({n, blocks}, 0.1, 1, DType::kF32, 4);
  std::vector<double> weights, rounded;
  for (int64_t j = 0; j < n; ++j)
    for (int64_t p = 0; p < k; ++p)
      weights.push_back((codes.values[static_cast<size_t>(j * blocks * block + p)] - 8) *
                        number_at(scales, j * blocks + p / block));
  for (int64_t i = 0; i < 2 * k; ++i) {
    const int64_t first = i / k * k + i % k / block * block, last = std::min(first + block, (i / k + 1) * k);
    double largest = 0;
    for (int64_t p = first; p < last; ++p) largest = std::max(largest, std::abs(number_at(a, p)));
    rounded.push_back(std::nearbyint(number_at(a, i) / largest * 127) * largest / 127);
  }
  const OpOptions options =
      contrib({attr("N", 3), attr("K", 40), attr("bits", 4), attr("block_size", 16), attr("accuracy_level", 4)});
  const Tensor expected = tensor({2, 3}, product(tensor({2, k}, rounded), weights, 3));
  check_cases({{"MatMulNBits", {a, codes.packed, scales}, options, {expected}, 1e-5}});
}

TEST_CASE("MatMulBnb4 looks its weights up, the high half of a byte first", "[reference]") {
  // One row of sixteen weights with the codes 0 to 15, in blocks of eight: the product with the unit matrix shows them.
  std::vector<double> bytes, unit(256);
  for (int i = 0; i < 8; ++i) bytes.push_back(16 * (2 * i) + 2 * i + 1);
  for (size_t i = 0; i < 16; ++i) unit[i * 17] = 1;
  const std::vector<Datum> inputs{tensor({16, 16}, unit), tensor({8}, bytes, kU8), tensor({2}, {1, 10})};
  const auto options = [](int type) {
    return contrib({attr("N", 1), attr("K", 16), attr("block_size", 8), attr("quant_type", type)});
  };
  check_cases({
      {"MatMulBnb4",
       inputs,
       options(0),
       {tensor({16, 1}, {0, 0.005208333, 2 / 3.0, 1, 1 / 3.0, 0.5, 1 / 6.0, 0.25, 0, -0.05208333, -20 / 3.0, -10,
                         -10 / 3.0, -5, -10 / 6.0, -2.5})}},
      {"MatMulBnb4",
       inputs,
       options(1),
       {tensor({16, 1}, {-1, -0.69619, -0.52507, -0.39492, -0.28444, -0.18477, -0.09105, 0, 0.7958, 1.6093, 2.46112,
                         3.37915, 4.4071, 5.62617, 7.22957, 10})},
       1e-5},
  });
  check_errors({{"MatMulBnb4", inputs, options(2), "quant_type"}});
}

TEST_CASE("GatherBlockQuantized dequantizes the rows that it picks", "[reference]") {
  const Codes codes = make_codes(3, 32, 4, 1), zeros = make_codes(3, 2, 4, 2);
  const Tensor scales = uniform({3, 2}, 0.1, 1, DType::kF32, 3), places = Tensor::ints({2, -3, 7});
  const auto rows = [&](const auto& zero_of) {
    std::vector<double> out;
    for (const int64_t row : {2, 0})
      for (int64_t c = 0; c < 32; ++c)
        out.push_back((codes.values[static_cast<size_t>(row * 32 + c)] - zero_of(row * 2 + c / 16)) *
                      number_at(scales, row * 2 + c / 16));
    out.resize(96, 0);  // a row that does not exist is zero
    return tensor({3, 32}, out);
  };
  const OpOptions options = contrib({attr("block_size", 16), attr("bits", 4)});
  const Tensor typed = tensor({3, 32}, codes.values, DType::kU4),
               typed_zeros = tensor({3, 2}, zeros.values, DType::kU4);
  const auto listed = [&](int64_t s) { return zeros.values[static_cast<size_t>(s)]; };
  check_cases({
      {"GatherBlockQuantized", {codes.packed, places, scales}, options, {rows([](int64_t) { return 8.0; })}},
      {"GatherBlockQuantized", {codes.packed, places, scales, zeros.packed}, options, {rows(listed)}},
      {"GatherBlockQuantized", {typed, places, scales}, options, {rows([](int64_t) { return 0.0; })}},
      {"GatherBlockQuantized", {typed, places, scales, typed_zeros}, options, {rows(listed)}},
  });
  check_errors(
      {{"GatherBlockQuantized", {codes.packed, places, counting({3, 3})}, options, "scales must have the shape 3x2"}});
}

}  // namespace
}  // namespace mlopt::test
