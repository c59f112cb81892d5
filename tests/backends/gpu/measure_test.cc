#include "backends/gpu/measure.h"

#include <cmath>

#include "core/tensor/small_float.h"
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

TEST_CASE("peaks of a GPU are of products of numbers, none of them zero") {
  GpuInterface api = mlopt::gpu::gpu_interface();
  static bool right;
  right = true;
  api.kernels.product = [](mlopt::gpu::Queue&, const mlopt::gpu::ProductArgs& args) -> mlopt::gpu::Status {
    const auto is_right = [](float x) { return std::abs(x) >= 0x1p-7f && std::abs(x) < 2; };
    for (const void* matrix : {args.a, args.b})
      for (int64_t i = 0; i < args.m * args.k; ++i) {
        const auto* halves = static_cast<const uint16_t*>(matrix);
        right &= args.type == mlopt::gpu::Elem::kF32   ? is_right(static_cast<const float*>(matrix)[i])
                 : args.type == mlopt::gpu::Elem::kF16 ? is_right(mlopt::to_float(mlopt::Half{halves[i]}))
                                                       : is_right(mlopt::to_float(mlopt::BFloat16{halves[i]}));
      }
    return nullptr;
  };
  mlopt::gpu::measure_peaks({&api, 0}, 32, 4096, 1);
  CHECK(right);
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
