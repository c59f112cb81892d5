#include "core/tensor/small_float.h"

#include <bit>
#include <cmath>
#include <limits>

#include "tests/support/catch.h"

using namespace mlopt;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

/// FNV-1a over the bits of floats, all NaNs alike.
class Hash {
 public:
  void add(float value) {
    const uint32_t word = std::isnan(value) ? 0x7fc00000u : std::bit_cast<uint32_t>(value);
    state_ = (state_ ^ word) * 0x100000001b3ULL;
  }
  uint64_t value() const { return state_; }

 private:
  uint64_t state_ = 0xcbf29ce484222325ULL;
};

struct Row {
  DType type;
  int codes;
  uint64_t decoded;    ///< of every code in order
  uint64_t encoded;    ///< of probes rounded to the type, then decoded; without saturation
  uint64_t saturated;  ///< with saturation (the 8 bit types only)
};

// Hashes of what ml_dtypes 0.6 and NumPy give for the same codes and probes.
constexpr Row kRows[] = {
    {DType::kF16, 65536, 0xa29fcd307f1d2325ULL, 0x17f48f96a2769fedULL, 0},
    {DType::kBF16, 65536, 0xae864f38855e2325ULL, 0x224b802ac2d89fedULL, 0},
    {DType::kF8E4M3FN, 256, 0x08993af4628bb725ULL, 0x14248a2ca3c89fedULL, 0x435d175f67089fedULL},
    {DType::kF8E4M3FNUZ, 256, 0x4065565af2abb725ULL, 0x9453607112a89fedULL, 0xa5853fc0c3889fedULL},
    {DType::kF8E5M2, 256, 0x00cee2838e6bb725ULL, 0x77ab1cbc54489fedULL, 0x2ead607e89489fedULL},
    {DType::kF8E5M2FNUZ, 256, 0x39969815ceabb725ULL, 0xd639af6f98889fedULL, 0xfb4811e30c089fedULL},
    {DType::kF4E2M1, 16, 0x00737516397f6465ULL, 0xdf654fa952489fedULL, 0},
};

/// Every sign, exponent and upper mantissa but NaN; below it just under, at and just over half a step of bfloat16.
template <class Fn>
void for_each_probe(const Fn& fn) {
  for (uint32_t high = 0; high < 65536; ++high)
    for (const uint32_t low : {0u, 0x7fffu, 0x8000u, 0x8001u})
      if (const auto x = std::bit_cast<float>(high << 16 | low); !std::isnan(x)) fn(x);
}

uint64_t hash_of_rounded(DType type, bool saturate) {
  Hash hash;
  for_each_probe([&](float x) { hash.add(small_to_float(type, float_to_small(type, x, saturate))); });
  return hash.value();
}

}  // namespace

TEST_CASE("every code means what an independent library says") {
  for (const Row& row : kRows) {
    INFO(name(row.type));
    Hash hash;
    for (int code = 0; code < row.codes; ++code) hash.add(small_to_float(row.type, static_cast<uint16_t>(code)));
    CHECK(hash.value() == row.decoded);
  }
}

TEST_CASE("rounding agrees bit by bit with an independent library") {
  for (const Row& row : kRows) {
    INFO(name(row.type));
    CHECK(hash_of_rounded(row.type, false) == row.encoded);
    if (row.saturated) CHECK(hash_of_rounded(row.type, true) == row.saturated);
    const float nan = small_to_float(row.type, float_to_small(row.type, kNan));
    CHECK((row.type == DType::kF4E2M1 ? nan == 0 : std::isnan(nan)));
  }
}

TEST_CASE("a number that the type has is its own code") {
  for (const Row& row : kRows)
    for (int code = 0; code < row.codes; ++code) {
      const float value = small_to_float(row.type, static_cast<uint16_t>(code));
      if (std::isnan(value)) continue;
      INFO(name(row.type) << " " << code);
      REQUIRE(float_to_small(row.type, value, false) == code);
    }
}

TEST_CASE("ends of the ranges as ONNX's Cast defines them") {
  CHECK(small_to_float(DType::kF16, to_half(65519.0f).bits) == 65504.0f);
  CHECK(small_to_float(DType::kF16, to_half(65520.0f).bits) == kInf);
  CHECK(to_float(to_bfloat16(-kInf)) == -kInf);
  CHECK(to_half(0x1p-25f).bits == 0);  // half of the least subnormal: a tie, to even
  CHECK(to_half(0x1.8p-25f).bits == 1);
  CHECK(float_to_small(DType::kF8E4M3FN, kInf, true) == 0x7e);
  CHECK(float_to_small(DType::kF8E4M3FN, -1e9f, true) == 0xfe);
  CHECK(std::isnan(small_to_float(DType::kF8E4M3FN, float_to_small(DType::kF8E4M3FN, kInf, false))));
  CHECK(float_to_small(DType::kF8E4M3FNUZ, kNan) == 0x80);
  CHECK(float_to_small(DType::kF8E5M2, kInf, true) == 0x7b);
  CHECK(float_to_small(DType::kF8E5M2, kInf, false) == 0x7c);
  CHECK(float_to_small(DType::kF8E5M2FNUZ, -0.0f) == 0);
  CHECK(small_to_float(DType::kF4E2M1, float_to_small(DType::kF4E2M1, -kInf)) == -6);
}

TEST_CASE("the bare exponent of scales is rounded up") {
  CHECK(small_to_float(DType::kF8E8M0, 0) == 0x1p-127f);
  CHECK(small_to_float(DType::kF8E8M0, 254) == 0x1p127f);
  CHECK(std::isnan(small_to_float(DType::kF8E8M0, 255)));
  CHECK(float_to_small(DType::kF8E8M0, 1.0f) == 127);
  CHECK(float_to_small(DType::kF8E8M0, 1.5f) == 128);
  CHECK(float_to_small(DType::kF8E8M0, kNan) == 255);
}
