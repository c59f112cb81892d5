#include "backends/cpu/steps.h"

#include <algorithm>

#include "backends/reference/backend.h"
#include "backends/reference/kernels.h"
#include "core/exec/interpreter.h"
#include "core/onnx/infer.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"
#include "tests/support/rewrite.h"

namespace mlopt::test {
namespace {

/// All nodes on the host of a device that runs none.
std::unique_ptr<Executable> on_host(const Model& model, CompileOptions options = {}) {
  std::vector<Kernel> kernels = cpu_steps();
  const std::vector<Kernel> others = reference::all_kernels();
  kernels.insert(kernels.end(), others.begin(), others.end());
  options.profile = true;
  const KernelList lists[] = {{"gpu", {}}, {"host", kernels}};
  return compile_interpreter(model, options, lists, standard_types);
}

std::string kernel_of(const Executable& plan, const std::string& op) {
  for (const StepProfile& step : plan.profile())
    if (step.op == op) return step.kernel;
  return "none";
}

}  // namespace

TEST_CASE("nodes that another backend hands over run by kernels of the CPU, the others by those behind") {
  const Model model =
      fixture(R"(g (float[N,3,8,8] x, float[4,3,3,3] w) => (float[N,4] y, double[N,4] z) <int64[2] two = {2,3}> {
    c = Conv (x, w)  m = ReduceMax <keepdims = 0> (c, two)  y = Softmax (m)
    d = Cast <to = 11> (y)  z = Hardmax (d) })");
  for (const Precision precision : {Precision::kF32, Precision::kF16}) {
    CompileOptions options;
    options.precision = precision;
    const auto plan = on_host(model, options);
    for (const int64_t samples : {2, 3}) {
      const std::vector<Datum> given{uniform({samples, 3, 8, 8}, -1, 1), uniform({4, 3, 3, 3}, -1, 1, DType::kF32, 2)};
      const auto expected = reference_backend()->compile(model, {})->run(given), made = plan->run(given);
      for (size_t i = 0; i < made.size(); ++i) require_close(made[i].tensor(), expected[i].tensor(), 1e-5);
    }
    CHECK(kernel_of(*plan, "Conv") == "cpu");
    CHECK(kernel_of(*plan, "Softmax") == "cpu");
    CHECK(kernel_of(*plan, "Hardmax") == "host");
    CHECK(plan->fallback_nodes().size() == 5);
  }
}

TEST_CASE("no kernel for single nodes plans for memory of its own") {
  const std::vector<Kernel> steps = cpu_steps();
  CHECK(std::none_of(steps.begin(), steps.end(), [](const Kernel& k) { return k.plan || k.run; }));
}

}  // namespace mlopt::test
