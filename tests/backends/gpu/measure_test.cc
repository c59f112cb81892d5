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
    CHECK(peak.runs >= 1);
    CHECK((peak.size > 0) == (peak.what != "copy"));
  }
}

TEST_CASE("energy is what the counter of a GPU gained, shared out over the runs") {
  GpuInterface api = mlopt::gpu::gpu_interface();
  int runs = 0;
  const auto run = [&] { ++runs; };
  CHECK_FALSE(mlopt::gpu::joules_per_run({&api, 0}, run, 0));
  CHECK(runs == 0);
  static double joules;
  joules = 100;
  api.energy = [](int, double* now) -> mlopt::gpu::Status {
    *now = joules;
    return nullptr;
  };
  const auto used = mlopt::gpu::joules_per_run(
      {&api, 0}, [] { joules += 0.25; }, 0.001);
  REQUIRE(used);
  CHECK(*used == Approx(0.25));
  CHECK_FALSE(mlopt::gpu::joules_per_run({&api, 0}, run, 0));  // a counter that stands still
}
