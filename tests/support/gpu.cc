#include "tests/support/gpu.h"

#include "backends/gpu/backend.h"
#include "backends/gpu/interface.h"
#include "backends/reference/kernels.h"
#include "core/base/error.h"
#include "core/exec/plugin.h"
#include "core/onnx/infer.h"
#include "mlopt_build.h"
#include "tests/support/catch.h"
#include "tests/support/one_node.h"

namespace mlopt::test {
namespace {

GpuHost host(bool fallback) { return {reference::all_kernels(), fallback, standard_types}; }

}  // namespace

std::unique_ptr<Backend> gpu_on_host(bool fallback) { return gpu_backend(gpu::gpu_interface(), 0, host(fallback)); }

std::unique_ptr<Backend> real_gpu() {
  try {
    return gpu_backend(*load_plugin("gpu", MLOPT_BUILD_ID).gpu, 0, host(false));
  } catch (const Error&) {
    return nullptr;
  }
}

void require_on_gpu(const std::string& op, const std::vector<Datum>& inputs, OpOptions options, double tolerance) {
  options.backend = nullptr;
  const std::vector<Datum> expected = run_node(op, inputs, options);
  std::vector<Datum> given;
  for (const Datum& input : inputs)
    if (!input.is_none()) given.push_back(input);
  for (const std::unique_ptr<Backend>& backend : {gpu_on_host(), real_gpu()}) {
    if (!backend) continue;
    for (const size_t fixed_from : {inputs.size(), size_t{1}}) {
      if (options.fixed && fixed_from > 1) continue;
      INFO(op << ", " << fixed_from << " inputs given");
      const auto plan = backend->compile(one_node(op, inputs, options, fixed_from), {});
      const std::span<const Datum> now = std::span(given).first(fixed_from == 1 ? 1 : given.size());
      for (int time = 0; time < 3; ++time) {  // the second is captured, the third replayed
        const std::vector<Datum> actual = plan->run(now);
        REQUIRE(actual.size() == expected.size());
        for (size_t i = 0; i < actual.size(); ++i) require_close(actual[i].tensor(), expected[i].tensor(), tolerance);
      }
    }
  }
}

}  // namespace mlopt::test
