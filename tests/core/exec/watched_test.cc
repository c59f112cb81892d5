#include "core/exec/watched.h"

#include "core/exec/interpreter.h"
#include "core/onnx/infer.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"

namespace mlopt {
namespace {

/// Adds 1, where its input lies if nothing else reads that.
Expected<PlannedStep> plan_one(const Site& site) {
  PlannedStep step{.out = {site.desc(0)}, .in_place = 0};
  step.run = [count = site.desc(0).size()](const Buffers& b) {
    for (int64_t i = 0; i < count; ++i) b.out<float>(0)[i] = b.in<float>(0)[i] + 1;
  };
  return step;
}

Expected<PlannedStep> plan_view(const Site& site) {
  PlannedStep step{.out = {site.desc(0)}};
  step.view_of = 0;
  return step;
}

void negate(Call& call) {
  Tensor& y = call.make(0, DType::kF32, call.in(0).dims());
  for (int64_t i = 0; i < y.size(); ++i) y.mutable_data<float>()[i] = -call.in(0).data<float>()[i];
}

constexpr Kernel kKernels[] = {{.domain = "test", .op = "One", .plan = plan_one},
                               {.domain = "test", .op = "View", .plan = plan_view},
                               {.domain = "", .op = "Neg", .run = negate}};
constexpr KernelList kLists[] = {{"test", kKernels}};

Model model_of(const std::string& body) {
  return parse_text("<ir_version: 10, opset_import: [\"\" : 21, \"test\" : 1]> main (float[N] x) => (float[N] y) {" +
                    body + "}");
}

using Seen = std::vector<std::pair<std::string, float>>;

/// What is seen of the first elements, in order, of x = {1, 2}; `planned`: by a plan.
Seen seen_in(const std::string& body, const std::vector<std::string>& names, bool planned) {
  CompileOptions options;
  options.taps = names;
  options.taps_unordered = true;
  const auto plan = compile_interpreter(model_of(body), options, kLists, standard_types);
  const std::vector<Datum> inputs{Tensor::of<float>({2}, {1, 2})};
  Seen seen;
  RunHooks hooks;
  hooks.on_tap = [&](std::string_view name, const Datum& value) {
    seen.emplace_back(name, value.tensor().data<float>()[0]);
  };
  CHECK(plan->run(inputs, hooks).size() == 1);  // not what is watched
  CHECK(plan->plan_info(inputs).has_value() == planned);
  return seen;
}

}  // namespace

TEST_CASE("a plan hands values in when they are made, before others take their place") {
  const std::string body = "a = test.One (x) b = test.One (a) v = test.View (b) c = test.One (v) y = test.One (c)";
  CHECK(seen_in(body, {"x", "a", "b", "v", "c", "y"}, true) ==
        Seen{{"x", 1}, {"a", 2}, {"b", 3}, {"v", 3}, {"c", 4}, {"y", 5}});
  CHECK(seen_in(body, {"c", "a"}, true) == Seen{{"a", 2}, {"c", 4}});
}

TEST_CASE("values that nothing reads, and those that are folded, are seen as well") {
  const std::string body =
      "k = Constant <value_floats = [5.0, 6.0]> () f = test.One (k) s = test.One (x) y = test.One (x)";
  CHECK(seen_in(body, {"s", "f"}, true) == Seen{{"f", 6}, {"s", 2}});
}

TEST_CASE("what may be given up halfway, or is not in the graph itself, runs node by node") {
  CHECK(seen_in("a = Neg (x) y = Neg (a)", {"a"}, false) == Seen{{"a", -1}});
  CHECK(seen_in("y = Neg (x)", {"y", "nowhere"}, false) == Seen{{"y", -1}});
}

TEST_CASE("values to watch become outputs, unless they are inputs, constants or outputs already") {
  Model model = model_of("k = Constant <value_floats = [5.0, 6.0]> () a = test.One (x) y = test.One (a)");
  REQUIRE(watch(*model.graph, {"x", "a", "y"}));
  REQUIRE(model.graph->outputs().size() == 2);
  CHECK(model.graph->outputs()[1]->name == "a");
  CHECK_FALSE(watch(*model.graph, {"nowhere"}));
}

}  // namespace mlopt
