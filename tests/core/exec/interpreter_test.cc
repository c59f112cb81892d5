#include "core/exec/interpreter.h"

#include <mutex>
#include <thread>

#include "core/base/parallel.h"
#include "core/exec/weight_cache.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"
#include "tests/support/thrown.h"

using namespace mlopt;
using test::says;
using test::thrown_by;

namespace {

void negate(Call& call) {
  Tensor& y = call.make(0, DType::kF32, call.in(0).dims());
  for (int64_t i = 0; i < y.size(); ++i) y.mutable_data<float>()[i] = -call.in(0).span<float>()[static_cast<size_t>(i)];
}

void add(Call& call) {
  const Tensor &a = call.in(0), &b = call.in(1);
  Tensor& y = call.make(0, DType::kF32, a.dims());
  for (int64_t i = 0; i < y.size(); ++i) y.mutable_data<float>()[i] = a.data<float>()[i] + b.data<float>()[i];
}

void choose(Call& call) {
  std::vector<Datum> results = call.run_body(call.in(0).span<bool>()[0] ? 0 : 1, {});
  for (size_t i = 0; i < results.size(); ++i) call.set(static_cast<int>(i), std::move(results[i]));
}

void count_threads(Call& call) { call.set(0, Tensor::scalar(static_cast<int64_t>(max_threads()))); }

void fail(Call&) { input_error("a kernel gave up"); }

Expected<Step> only_negative_axes(const NodeView& view, const CompileContext& context) {
  if (view.get_int("axis") >= 0) return context.next();
  return Step(negate);
}

/// The cache that each kernel was given, in the order in which they were compiled.
std::vector<const WeightCache*> caches;

Expected<Step> note_cache(const NodeView&, const CompileContext& context) {
  caches.push_back(context.weights);
  return Step(negate);
}

constexpr Kernel kFast[] = {{"", "Special", nullptr, only_negative_axes}};
constexpr Kernel kSlow[] = {{"", "Neg", negate},
                            {"", "Add", add},
                            {"", "Cached", nullptr, note_cache},
                            {"", "If", choose},
                            {"test", "Threads", count_threads},
                            {"", "Fail", fail},
                            {"", "Special", [](Call& call) { call.set(0, call.in(0)); }}};
constexpr KernelList kLists[] = {{"fast", kFast}, {"slow", kSlow}};

std::unique_ptr<Executable> compiled(const std::string& inputs, const std::string& outputs, const std::string& body,
                                     const CompileOptions& options = {}) {
  return compile_interpreter(parse_text("<ir_version: 10, opset_import: [\"\" : 21, \"test\" : 1]> main (" + inputs +
                                        ") => (" + outputs + ") " + body),
                             options, kLists);
}

Tensor floats(const std::vector<float>& values) {
  return Tensor::of(Dims{static_cast<int64_t>(values.size())}, values);
}

std::vector<float> values(const Datum& datum) {
  const auto span = datum.tensor().span<float>();
  return {span.begin(), span.end()};
}

constexpr const char* kChain = "<float[2] w = {10, 20}> { h = Add (x, w)  m = Neg (h)  y = Add (m, x) }";

}  // namespace

TEST_CASE("a plan runs node by node, as often as it is asked to") {
  const auto plan = compiled("float[2] x", "float[2] y, float[2] m", kChain);
  CHECK(plan->input_names() == std::vector<std::string>{"x"});
  CHECK(plan->output_names() == std::vector<std::string>{"y", "m"});
  for (const float x : {1.0f, 5.0f}) {
    const std::vector<Datum> out = plan->run(std::vector<Datum>{floats({x, 0})});
    CHECK(values(out[0]) == std::vector<float>{-10, -20});
    CHECK(values(out[1]) == std::vector<float>{-10 - x, -20});
  }
}

TEST_CASE("outputs may be inputs, constants, or the same value twice") {
  const auto plan =
      compiled("float[2] x", "float[2] x, float[2] w, float[2] y, float[2] y", "<float[2] w = {1, 2}> { y = Neg (x) }");
  const std::vector<Datum> out = plan->run(std::vector<Datum>{floats({3, 4})});
  CHECK(values(out[0]) == std::vector<float>{3, 4});
  CHECK(values(out[1]) == std::vector<float>{1, 2});
  CHECK(values(out[3]) == std::vector<float>{-3, -4});
}

TEST_CASE("inputs that do not fit the model are refused before anything runs") {
  const auto plan = compiled("float[N,2] x", "float[N,2] y", "{ y = Neg (x) }");
  const auto error = [&](std::vector<Datum> inputs) { return thrown_by([&] { plan->run(inputs); }); };
  CHECK(says(error({}), "0 inputs given, the model has 1"));
  CHECK(says(error({Tensor::zeros(DType::kF64, {1, 2})}), "'x' is float64 1x2, the model has float32[N,2]"));
  CHECK(says(error({Tensor::zeros(DType::kF32, {1, 3})}), "float32 1x3"));
  CHECK(says(error({Tensor::zeros(DType::kF32, {2})}), "float32 2"));
  CHECK(says(error({Datum::sequence({})}), "not a tensor"));
  CHECK(plan->run(std::vector<Datum>{Tensor::zeros(DType::kF32, {7, 2})})[0].tensor().dims() == Dims{7, 2});
}

TEST_CASE("nodes without a kernel are named all at once") {
  const Error error = thrown_by([] { compiled("float[2] x", "y", "{ a = Odd (x)  b = Neg (a)  y = test.Even (b) }"); });
  CHECK(error.code == Code::kUnsupported);
  CHECK((says(error, "fast cannot run") && says(error, "Odd giving 'a'") && says(error, "test.Even giving 'y'")));
}

TEST_CASE("kernels are searched in order, and who falls back is told") {
  const auto plan = compiled("float[2] x", "a, b", "{ a = Special <axis = -1> (x)  b = Special <axis = 1> (x) }");
  const std::vector<Datum> out = plan->run(std::vector<Datum>{floats({3, 4})});
  CHECK(values(out[0]) == std::vector<float>{-3, -4});
  CHECK(values(out[1]) == std::vector<float>{3, 4});
  CHECK(plan->fallback_nodes().empty());  // the first list's kernel asked for what comes after it
  CHECK(compiled("float[2] x", "y", "{ y = Neg (x) }")->fallback_nodes() == std::vector<std::string>{"Neg giving 'y'"});
}

TEST_CASE("taps see what they asked for, also inputs and values in bodies") {
  CompileOptions options;
  options.taps = {"x", "h", "inner", "nowhere"};
  const auto plan = compiled("float[2] x, bool c", "float[2] y", R"(<float[2] w = {10, 20}> {
      h = Add (x, w)
      y = If (c) <then_branch = a () => (t) { inner = Neg (h)  t = Neg (inner) }, else_branch = b () => (e) { e = Neg (h) }> })",
                             options);
  std::vector<std::string> seen;
  RunHooks hooks;
  hooks.on_tap = [&](std::string_view name, const Datum& value) {
    seen.push_back(std::string(name) + " " + std::to_string(values(value)[0]).substr(0, 3));
  };
  plan->run(std::vector<Datum>{floats({1, 2}), Tensor::scalar(true)}, hooks);
  CHECK(seen == std::vector<std::string>{"x 1.0", "h 11.", "inner -11"});
}

TEST_CASE("each output of the graph is announced when it is computed, outputs of bodies are not") {
  const auto plan = compiled("float[2] x, bool c", "float[2] y, float[2] h", R"({
      h = Neg (x)
      y = If (c) <then_branch = a () => (t) { t = Neg (h) }, else_branch = b () => (e) { e = Neg (h) }> })");
  std::vector<std::string> ready;
  RunHooks hooks;
  hooks.on_ready = [&](std::string_view name, const Datum&) { ready.emplace_back(name); };
  plan->run(std::vector<Datum>{floats({1, 2}), Tensor::scalar(true)}, hooks);
  CHECK(ready == std::vector<std::string>{"h", "y"});
}

TEST_CASE("packed weights are an executable's own, or shared with another") {
  CompileOptions options;
  const auto compile = [&] {
    compiled("float[2] x", "float[2] y", "{ y = Cached (x) }", options);
    return caches.back();
  };
  CHECK(compile());
  options.weights = std::make_shared<WeightCache>();
  CHECK(compile() == options.weights.get());
  CHECK(compile() == options.weights.get());
}

TEST_CASE("the thread count belongs to the plan") {
  CompileOptions options;
  options.threads = 3;
  const int before = max_threads();
  const auto plan = compiled("float[2] x", "int64 y", "{ y = test.Threads (x) }", options);
  CHECK(plan->run(std::vector<Datum>{floats({1, 2})})[0].tensor().span<int64_t>()[0] == 3);
  CHECK(max_threads() == before);
}

TEST_CASE("a plan runs in several threads at once") {
  const auto plan = compiled("float[2] x", "float[2] y, float[2] m", kChain);
  std::mutex mutex;
  int wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const auto x = static_cast<float>(t * 1000 + i);
        const std::vector<Datum> out = plan->run(std::vector<Datum>{floats({x, x})});
        const std::lock_guard lock(mutex);
        wrong += values(out[1]) != std::vector<float>{-10 - x, -20 - x};
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("a profile counts calls by node, and only when asked for") {
  CompileOptions options;
  options.profile = true;
  const auto plan = compiled("float[2] x", "float[2] y", kChain, options);
  for (int i = 0; i < 3; ++i) plan->run(std::vector<Datum>{floats({1, 2})});
  const std::vector<StepProfile> steps = plan->profile();
  REQUIRE(steps.size() == 3);
  CHECK(steps[1].op == "Neg");
  CHECK(steps[1].calls == 3);
  CHECK(steps[1].seconds > 0);
  CHECK(compiled("float[2] x", "float[2] y", kChain)->profile().empty());
}

TEST_CASE("an error of a kernel names its node") {
  const auto plan = compiled("float[2] x", "y", "{ y = Fail (x) }");
  const Error error = thrown_by([&] { plan->run(std::vector<Datum>{floats({1, 2})}); });
  CHECK(error.code == Code::kBadInput);
  CHECK(says(error, "a kernel gave up: Fail giving 'y'"));
}
