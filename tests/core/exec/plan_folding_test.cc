#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// Operators that run, for x of so many rows of a million numbers.
std::string steps_of(const std::string& rows) {
  const Model model = test::fixture("g (float[" + rows + ",1048576] x) => (float[" + rows +
                                    ",1048576] y) <float two = {2}, int64[2] s = {" + rows +
                                    ",1048576}> { e = Expand (two, s)  y = Mul (x, e) }");
  CompileOptions options;
  options.profile = true;
  const auto plan = test::cpu_with_fallback()->compile(model, options);
  plan->run(std::vector<Datum>{Tensor(DType::kF32, {std::stoll(rows), 1048576})});
  std::string ops;
  for (const StepProfile& step : plan->profile()) ops += step.op + " ";
  return ops;
}

}  // namespace

TEST_CASE("what follows from constants is computed when the plan is made, unless it takes much memory") {
  CHECK(steps_of("1") == "Mul ");
  CHECK(steps_of("6") == "Expand Mul ");
}
