#include "core/exec/plan_info.h"

#include "core/exec/interpreter.h"
#include "core/onnx/infer.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"

using namespace mlopt;

namespace {

Expected<PlannedStep> plan_one(const Site& site) {
  PlannedStep step{.out = {site.desc(0)}, .run = [](const Buffers&) {}};
  step.in_place = 0;
  return step;
}

/// Makes something of its own of its second input, and needs room.
Expected<PlannedStep> plan_sum(const Site& site) {
  PlannedStep step{.out = {site.desc(0)}, .run = [](const Buffers&) {}, .scratch_bytes = 100};
  if (site.constant(1)) {
    step.packed = {1};
    step.packed_bytes = 1000;
  }
  step.label = "adder";
  return step;
}

/// All but the first element.
Expected<PlannedStep> plan_tail(const Site& site) {
  PlannedStep step{.out = {{DType::kF32, {site.desc(0).dims[0] - 1}}}};
  step.view_of = 0;
  step.view_offset = sizeof(float);
  return step;
}

void pass_on(Call& call) { call.set(0, call.datum(0)); }

constexpr Kernel kKernels[] = {
    {.domain = "test", .op = "One", .label = "ones", .plan = plan_one},
    {.domain = "", .op = "Relu", .label = "ones", .plan = plan_one},
    {.domain = "test", .op = "Sum", .plan = plan_sum},
    {.domain = "test", .op = "Tail", .plan = plan_tail},
    {.domain = "test", .op = "Any", .run = pass_on},
    {.domain = "", .op = "Neg", .run = pass_on},
};
constexpr KernelList kLists[] = {{"mine", kKernels}};

std::unique_ptr<Executable> compiled(const std::string& graph, const CompileOptions& options = {}) {
  return compile_interpreter(parse_text("<ir_version: 10, opset_import: [\"\" : 21, \"test\" : 1]> g " + graph),
                             options, kLists, standard_types);
}

std::vector<Datum> zeros(int64_t count) { return {Tensor::zeros(DType::kF32, {count})}; }

}  // namespace

TEST_CASE("a plan says what runs, and where everything lies") {
  const auto plan = compiled(R"((float[40] x) => (float[40] y)
    <float[1] w = {1}, float[2] c = {1, 2}> {
      [first] a = Relu (x)
      [sum] b = test.Sum (a, w)
      [again] d = test.One (b)
      [tail] t = test.Tail (d)
      [folded] n = Neg (c)
      [rest] e = test.Any (n)
      [last] y = test.Sum (d, x)
    })");
  const auto info = plan->plan_info(zeros(40));
  REQUIRE(info);
  const auto& steps = info->steps;
  REQUIRE(steps.size() == 4);  // nobody reads the tail, nor what is left of the constant
  CHECK(steps[0].nodes == std::vector<std::string>{"Relu 'first'"});
  CHECK(steps[0].kernel == "ones");
  CHECK_FALSE(steps[0].in_place);  // the input is the caller's
  CHECK(steps[0].bytes == 2 * 40 * 4);
  CHECK(steps[0].layout == "row-major");
  CHECK(steps[1].kernel == "adder");
  CHECK(steps[1].scratch_bytes == 100);
  CHECK(steps[1].packed_bytes == 1000);
  CHECK(steps[2].in_place);
  REQUIRE(steps[1].out.size() == 1);
  CHECK(steps[2].out[0].offset == steps[1].out[0].offset);
  CHECK(steps[2].out[0].of == "b");
  CHECK(steps[3].out[0].home == PlaceInfo::Home::kOutput);
  CHECK(info->arena_bytes == 2 * 192);  // two of 160 bytes live at once, at multiples of 64
  CHECK(info->scratch_bytes >= 100);
  CHECK(info->packed_bytes == 1000);
  CHECK(info->constant_bytes == 0);
}

TEST_CASE("a view has no bytes of its own") {
  const auto plan = compiled(R"((float[40] x) => (float[39] y) {
    a = test.One (x)
    [tail] t = test.Tail (a)
    y = test.One (t)
  })");
  const auto info = plan->plan_info(zeros(40));
  REQUIRE(info);
  REQUIRE(info->steps.size() == 3);
  const PlanStepInfo& view = info->steps[1];
  CHECK(view.view);
  CHECK(view.kernel == "view");
  CHECK(view.nodes == std::vector<std::string>{"test.Tail 'tail'"});
  CHECK(view.bytes == 0);
  REQUIRE(view.out.size() == 1);
  CHECK(view.out[0].of == "a");
  CHECK(view.out[0].offset == info->steps[0].out[0].offset + 4);
  CHECK(info->arena_bytes == 192);
}

TEST_CASE("nodes outside of the plan are among its steps, constants are not") {
  const auto plan = compiled(R"((float[40] x) => (z, float[2] w) <float[2] c = {1, 2}> {
    [data] y = test.Any (x)
    [after] z = test.One (y)
    [folded] n = Neg (c)
    w = test.One (n)
  })");
  const auto info = plan->plan_info(zeros(40));
  REQUIRE(info);
  REQUIRE(info->steps.size() == 2);
  CHECK_FALSE(info->steps[0].planned);
  CHECK(info->steps[0].nodes == std::vector<std::string>{"test.Any 'data'"});
  CHECK(info->steps[0].kernel == "mine");
  CHECK_FALSE(info->steps[0].bytes);
  CHECK(info->steps[0].out[0].home == PlaceInfo::Home::kOutside);
  CHECK_FALSE(info->steps[0].out[0].desc);
  CHECK(info->steps[1].kernel == "by shape");
  CHECK_FALSE(info->steps[1].planned);
  CHECK(info->folded_nodes == 2);
}

TEST_CASE("a graph that runs node by node has no plan") {
  CompileOptions options;
  options.taps = {"a"};
  const std::string graph = "(float[4] x) => (float[4] y) { a = test.One (x) y = test.One (a) }";
  CHECK_FALSE(compiled(graph, options)->plan_info(zeros(4)));
  CHECK(compiled(graph)->plan_info(zeros(4)));
}

TEST_CASE("a plan is described for the sizes of its inputs") {
  const auto plan = compiled("(float[N] x) => (float[N] y) { a = test.One (x) y = test.Sum (a, x) }");
  CHECK(plan->plan_info(zeros(100))->arena_bytes == 448);
  CHECK(plan->plan_info(zeros(10))->arena_bytes == 64);
}
