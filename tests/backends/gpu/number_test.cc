#include "backends/gpu/device/number.h"

#include "backends/gpu/device/walk.h"
#include "core/tensor/small_float.h"
#include "tests/support/catch.h"

namespace mlopt {

TEST_CASE("halves on a device are those of the host") {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto b = static_cast<uint16_t>(bits);
    const float half = to_float(Half{b}), brain = to_float(BFloat16{b});
    if (half == half) {
      if (gpu::widen(gpu::Half{b}) != half || gpu::narrow_half(half).bits != b) FAIL(bits);
    } else if (gpu::widen(gpu::Half{b}) == gpu::widen(gpu::Half{b})) {
      FAIL(bits);
    }
    if (brain == brain && (gpu::widen(gpu::Brain{b}) != brain || gpu::narrow_brain(brain).bits != b)) FAIL(bits);
  }
}

TEST_CASE("numbers are rounded to halves as on the host, ties to even") {
  for (uint32_t k = 0; k < 2000000; ++k) {
    const float x = gpu::bits_as<float>(k * 2147u + 7u);
    if (x != x) continue;
    if (gpu::narrow_half(x).bits != to_half(x).bits) FAIL(x);
    if (gpu::narrow_brain(x).bits != to_bfloat16(x).bits) FAIL(x);
  }
  for (const float x : {65519.0f, 65520.0f, 0x1p-24f, 0x1p-25f, 0x1.8p-25f, 0x1.ffcp-15f, -0.0f, 2049.0f, 2051.0f})
    CHECK(gpu::narrow_half(x).bits == to_half(x).bits);
}

TEST_CASE("a divider divides all numbers below 2^31") {
  for (const uint32_t d : {1u, 2u, 3u, 5u, 7u, 10u, 641u, 65535u, 65536u, 1000003u, 0x7fffffffu})
    for (uint64_t n : {0u, 1u, 2u, 6u, 1000u, 65535u, 65536u, 123456789u, 0x7ffffffeu, 0x7fffffffu})
      for (const uint64_t near : {n, n / d * d, n / d * d + d - 1}) {
        if (near > 0x7fffffffu) continue;
        const auto small = static_cast<uint32_t>(near);
        CHECK(gpu::Divider(d).quotient(small) == small / d);
      }
  CHECK(gpu::Divider(0).divisor == 1);  // of an axis without elements
}

}  // namespace mlopt
