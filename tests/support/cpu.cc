#include "tests/support/cpu.h"

#include "backends/cpu/backend.h"
#include "backends/reference/kernels.h"
#include "core/base/parallel.h"
#include "core/onnx/infer.h"
#include "core/tensor/compare.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

void require_same(const std::vector<Datum>& actual, const std::vector<Datum>& expected, double tolerance,
                  double steps) {
  REQUIRE(actual.size() == expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    const Tensor &got = actual[i].tensor(), &want = expected[i].tensor();
    if (steps == 0 || is_float(want.dtype())) {
      require_close(got, want, tolerance);
      continue;
    }
    REQUIRE(got.dtype() == want.dtype());
    REQUIRE(difference(got, want).max_abs <= steps);
  }
}

}  // namespace

void require_as_reference(const std::string& op, const std::vector<Datum>& inputs, OpOptions options, double tolerance,
                          double steps) {
  options.backend = nullptr;
  const std::vector<Datum> expected = run_node(op, inputs, options);
  const std::unique_ptr<Backend> cpu = cpu_backend({}, standard_types);
  options.backend = cpu.get();
  for (const bool fixed : {false, true}) {
    if (options.fixed && !fixed) continue;
    for (const int threads : {1, 3}) {
      OpOptions way = options;
      way.fixed = fixed;
      INFO(op << (fixed ? ", inputs constant, " : ", ") << threads << " threads");
      with_threads(threads, [&] { require_same(run_node(op, inputs, way), expected, tolerance, steps); });
    }
  }
}

std::unique_ptr<Backend> cpu_with_fallback() { return cpu_backend(reference::all_kernels(), standard_types); }

}  // namespace mlopt::test
