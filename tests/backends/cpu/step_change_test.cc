#include "backends/cpu/step_change.h"

#include <numeric>
#include <vector>

#include "core/base/rng.h"
#include "tests/support/catch.h"
#include "tests/support/targets.h"

namespace mlopt::cpu {

TEST_CASE("each of the 256 numbers becomes what its value becomes in the new steps") {
  for (const int64_t target : test::targets()) {
    const test::TargetScope scope(target);
    Rng rng(7);
    for (int i = 0; i < 60; ++i) {
      const bool is_signed = i % 2 == 0;
      const auto zero = [&] { return static_cast<int32_t>(rng.integer(is_signed ? -128 : 0, is_signed ? 127 : 255)); };
      const Steps from{static_cast<float>(rng.uniform(0.001, 0.1)), zero()};
      // As they were, with numbers right between two of the new ones, out of all reach, or any.
      const float scale = i < 4    ? from.scale
                          : i < 20 ? 2 * from.scale
                          : i < 24 ? 1e-30f
                                   : static_cast<float>(rng.uniform(0.001, 0.1));
      const Steps to{scale, i < 4 ? from.zero : zero()};
      for (const int64_t count : {256, 255, 37, 16, 3}) {
        INFO("target " << target << ", case " << i << ", " << count << " numbers");
        std::vector<uint8_t> x(static_cast<size_t>(count)), got(x.size()), expected(x.size());
        std::iota(x.begin(), x.end(), static_cast<uint8_t>(i));
        std::vector<float> values(x.size());
        dequantize({x.data(), is_signed}, values.data(), count, from.scale, from.zero);
        quantize(values.data(), {expected.data(), is_signed}, count, to.scale, to.zero);
        StepChange(is_signed, from, to).apply(x.data(), got.data(), count);
        REQUIRE(got == expected);
      }
    }
  }
}

}  // namespace mlopt::cpu
