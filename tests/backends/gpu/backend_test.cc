#include "backends/gpu/backend.h"

#include "backends/gpu/interface.h"
#include "core/base/error.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"
#include "tests/support/one_node.h"

namespace mlopt::test {
namespace {

std::string refused(const GpuInterface& api, int device) {
  try {
    gpu_backend(api, device, {});
  } catch (const Error& e) {
    CHECK(e.code == Code::kUnsupported);
    CHECK(!e.fix.empty());
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a device that is missing or too old is refused") {
  GpuInterface api = gpu::gpu_interface();
  CHECK(refused(api, 0).empty());
  CHECK_THAT(refused(api, 1), Catch::Matchers::Contains("no gpu:1"));
  api.describe = [](int, gpu::DeviceInfo* info) -> gpu::Status {
    *info = {};
    info->major = 7;
    return nullptr;
  };
  CHECK_THAT(refused(api, 0), Catch::Matchers::Contains("7.0"));
  api.count = [](int*) -> gpu::Status { return "no driver"; };
  CHECK_THAT(refused(api, 0), Catch::Matchers::Contains("no driver") && Catch::Matchers::Contains("libcuda"));
}

TEST_CASE("a GPU without memory says how much is missing") {
  GpuInterface api = gpu::gpu_interface();
  api.allocate = [](int, size_t, void** where) -> gpu::Status {
    *where = nullptr;
    return nullptr;
  };
  const auto backend = gpu_backend(api, 0, {});
  const Tensor x = uniform({1000}, 0, 1);
  try {
    backend->compile(one_node("Relu", {x}, {}, 1), {})->run(std::vector<Datum>{x});
    FAIL("it ran");
  } catch (const Error& e) {
    CHECK(e.code == Code::kUnsupported);
    CHECK_THAT(e.message, Catch::Matchers::Contains("needed") && Catch::Matchers::Contains("free"));
  }
}

TEST_CASE("a kernel that fails names its node") {
  GpuInterface api = gpu::gpu_interface();
  api.kernels.eltwise = [](gpu::Queue&, const gpu::EltwiseArgs&) -> gpu::Status { return "the device is lost"; };
  const auto backend = gpu_backend(api, 0, {});
  const Tensor x = uniform({10}, 0, 1);
  const auto plan = backend->compile(one_node("Relu", {x}, {}, 1), {});
  for (int time = 0; time < 3; ++time) {
    try {
      plan->run(std::vector<Datum>{x});
      FAIL("it ran");
    } catch (const Error& e) {
      CHECK_THAT(e.what(), Catch::Matchers::Contains("the device is lost") && Catch::Matchers::Contains("tested"));
    }
  }
}

TEST_CASE("a GPU that lacks bfloat16 refuses it, and computes in float16 and tf32") {
  GpuInterface api = gpu::gpu_interface();
  api.describe = [](int, gpu::DeviceInfo* info) -> gpu::Status {
    *info = {};
    info->major = 7;
    info->minor = 5;
    return nullptr;
  };
  CompileOptions options;
  const Tensor x = uniform({10}, 0, 1);
  const auto compile = [&](Precision precision) {
    options.precision = precision;
    return gpu_backend(api, 0, {})->compile(one_node("Relu", {x}, {}, 1), options);
  };
  CHECK(compile(Precision::kTF32));
  CHECK(compile(Precision::kF16));
  CHECK_THROWS_AS(compile(Precision::kBF16), Error);
}

}  // namespace mlopt::test
