#include "core/exec/by_shape.h"

#include <atomic>

#include "core/exec/interpreter.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/thrown.h"

using namespace mlopt;

namespace {

std::atomic<int> plans;  // a kernel is a plain function: it counts here

/// Doubles float32 vectors of up to 9 elements.
Expected<PlannedStep> plan(const Site& site) {
  ++plans;
  const TensorDesc& x = site.desc(0);
  if (x.dtype != DType::kF32) return Decline{"not float32"};
  if (x.size() > 9) return Decline{"more than 9 elements"};
  PlannedStep step{.out = {x}};
  step.scratch_bytes = 64;
  step.run = [count = x.size()](const Buffers& b) {
    b.scratch[63] = std::byte{1};
    for (int64_t i = 0; i < count; ++i) b.out<float>(0)[i] = 2 * b.in<float>(0)[i];
  };
  return step;
}

void copy(Call& call) { call.set(0, call.datum(0)); }

constexpr Kernel kFast[] = {{.domain = "", .op = "Double", .plan = plan}};
constexpr Kernel kNext[] = {{.domain = "", .op = "Double", .run = copy}};

/// Its values are watched, so that nothing is planned ahead.
std::unique_ptr<Executable> compiled(const std::string& type, bool with_next) {
  std::vector<KernelList> lists{{"fast", kFast}};
  if (with_next) lists.push_back({"next", kNext});
  CompileOptions options;
  options.taps = {"y"};
  options.threads = 1;
  return compile_interpreter(parse_text("<ir_version: 10, opset_import: [\"\" : 21]> main (" + type + " x) => (" +
                                        type + " y) { y = Double (x) }"),
                             options, lists);
}

float first(Executable& plan, int64_t size) {
  const Tensor x = test::tensor({size}, std::vector<double>(static_cast<size_t>(size), 1));
  const Tensor y = plan.run(std::vector<Datum>{x})[0].tensor();
  REQUIRE(y.dims() == x.dims());
  return size == 0 ? 0 : y.data<float>()[0];
}

}  // namespace

TEST_CASE("a node of unknown shape plans once for each signature") {
  const auto step = compiled("float[N]", true);
  plans = 0;
  for (int round = 0; round < 3; ++round)
    for (const int64_t size : {2, 5}) CHECK(first(*step, size) == 2);
  CHECK(plans == 2);
}

TEST_CASE("what a plan declines runs by the next kernel, and so do empty tensors") {
  const auto step = compiled("float[N]", true);
  CHECK(first(*step, 10) == 1);
  CHECK(first(*step, 0) == 0);
  CHECK(step->fallback_nodes().empty());
}

TEST_CASE("without a next kernel the decline is the error") {
  const auto step = compiled("float[N]", false);
  CHECK(test::thrown_by([&] { first(*step, 10); }).message == "no kernel for these inputs: more than 9 elements");
}

TEST_CASE("what the graph says of shapes is enough to decline when compiling") {
  CHECK(compiled("float[10]", true)->fallback_nodes().size() == 1);
  CHECK(compiled("double[N]", true)->fallback_nodes().empty());
  CHECK_THROWS_WITH(compiled("float[10]", false), Catch::Contains("more than 9 elements"));
}
