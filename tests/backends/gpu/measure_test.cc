#include "backends/gpu/measure.h"

#include "tests/support/catch.h"

TEST_CASE("peaks of a GPU are rates of products and of a copy") {
  const auto peaks = mlopt::gpu::measure_peaks({&mlopt::gpu::gpu_interface(), 0}, 32, 4096, 3);
  REQUIRE(peaks.size() == 5);
  CHECK(peaks.front().what == "fp32");
  CHECK(peaks.back().what == "copy");
  for (const auto& peak : peaks) {
    CHECK(peak.median > 0);
    CHECK(peak.best >= peak.median);
  }
}
