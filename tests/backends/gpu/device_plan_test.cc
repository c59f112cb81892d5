#include "backends/gpu/device_plan.h"

#include <thread>

#include "backends/gpu/backend.h"
#include "backends/reference/backend.h"
#include "core/base/error.h"
#include "core/onnx/io.h"
#include "core/tensor/compare.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"
#include "tests/support/net.h"
#include "tests/support/rewrite.h"

namespace mlopt::test {
namespace {

/// Conv, Relu, a mean and a product: [N, 3, H, W] -> [N, 5]; N, H and W are free.
Net classifier() {
  Net net;
  Type type = Type::tensor(DType::kF32);
  type.dims = SymDims{Dim::symbol("N"), 3, Dim::symbol("H"), Dim::symbol("W")};
  Value* x = net.graph().add_input("x", type);
  Value* y = net.op("Conv", {x, net.constant(uniform({20, 3, 3, 3}, -1, 1)), net.constant(uniform({20}, -1, 1))});
  y = net.op("Flatten", {net.op("GlobalAveragePool", {net.op("Relu", {y})})});
  net.output(net.op("MatMul", {y, net.constant(uniform({20, 5}, -1, 1))}));
  return net;
}

Tensor picture(int64_t i) {
  return uniform({1 + i % 3, 3, 8 + i % 4, 9}, -1, 1, DType::kF32, static_cast<uint64_t>(i));
}

}  // namespace

TEST_CASE("one executable runs on a GPU for several threads at once, whatever the shapes") {
  const Net net = classifier();
  const auto plan = gpu_on_host()->compile(net.model, {});
  constexpr int64_t kPictures = 12, kThreads = 4;
  std::vector<Tensor> expected;
  for (int64_t i = 0; i < kPictures; ++i)
    expected.push_back(reference_backend()->compile(net.model, {})->run(std::vector<Datum>{picture(i)})[0].tensor());
  REQUIRE(mismatch(expected[0], expected[3], 0, 0));  // or the threads would prove nothing
  std::vector<int> wrong(kThreads);
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int64_t i = t; i < t + 2 * kPictures; ++i) {
        const Tensor got = plan->run(std::vector<Datum>{picture(i % kPictures)})[0].tensor();
        wrong[static_cast<size_t>(t)] +=
            mismatch(got, expected[static_cast<size_t>(i % kPictures)], 1e-5, 1e-5).has_value();
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(kThreads));
}

TEST_CASE("values that are watched come from the GPU") {
  const Net net = classifier();
  CompileOptions options;
  const Node& relu = *net.model.graph->find(net.model.graph->nodes()[1]->output(0)->name)->producer;
  options.taps = {"x", relu.output(0)->name, "nowhere"};
  std::vector<std::pair<std::string, Tensor>> seen, expected;
  const auto watch = [&](Backend& backend, auto& into) {
    RunHooks hooks;
    hooks.on_tap = [&](std::string_view name, const Datum& value) { into.emplace_back(name, value.tensor()); };
    backend.compile(net.model, options)->run(std::vector<Datum>{picture(2)}, hooks);
  };
  watch(*gpu_on_host(), seen);
  watch(*reference_backend(), expected);
  REQUIRE(seen.size() == 2);
  REQUIRE(expected.size() == 2);
  for (size_t i = 0; i < 2; ++i) {
    CHECK(seen[i].first == expected[i].first);
    require_close(seen[i].second, expected[i].second, 1e-5);
  }
}

TEST_CASE("steps that only the host can do are refused by name, or done there on request") {
  Net net;
  Value* x = net.graph().add_input("x", Type::tensor(DType::kF32, Dims{4}));
  Value* square = net.op("Reshape", {net.op("Exp", {x}), net.constant(Tensor::ints({2, 2}))});
  net.output(net.op("Neg", {net.op("Einsum", {square}, {{"equation", std::string("ii->i"), {}}})}));
  const std::vector<Datum> given{tensor({4}, {1, 2, 3, 5})};
  const Tensor expected = reference_backend()->compile(net.model, {})->run(given)[0].tensor();
  const auto plan = gpu_on_host(true)->compile(net.model, {});
  for (int time = 0; time < 3; ++time) require_close(plan->run(given)[0].tensor(), expected);
  CHECK(plan->fallback_nodes().size() == 1);
  try {
    gpu_on_host()->compile(net.model, {});
    FAIL("it was not refused");
  } catch (const Error& e) {
    CHECK(e.code == Code::kUnsupported);
    CHECK(e.message.find("Einsum") != std::string::npos);
    CHECK(e.message.find("Exp") == std::string::npos);
    CHECK(e.fix.find("--fallback cpu") != std::string::npos);
  }
}

TEST_CASE("what the copies of a step on the host cost is a row of the profile") {
  const Model model = fixture(
      "g (float[2,2] x) => (float[2] z) { [exp] e = Exp (x) [diagonal] y = Einsum <equation = "
      "\"ii->i\"> (e) z = Neg (y) }");
  CompileOptions options;
  options.profile = true;
  const auto plan = gpu_on_host(true)->compile(model, options);
  for (int time = 0; time < 3; ++time) plan->run(std::vector<Datum>{tensor({2, 2}, {1, 2, 3, 5})});
  int rows = 0;
  for (const StepProfile& step : plan->profile()) {
    if (step.op != kHostCopies) continue;
    ++rows;
    CHECK(step.node == "diagonal");
    CHECK(step.nodes == std::vector<std::string>{"Einsum 'diagonal'"});
    CHECK(step.calls == 3);
    CHECK(step.bytes == 4 * 4 + 2 * 4);
    CHECK(step.seconds > 0);
  }
  CHECK(rows == 1);
}

TEST_CASE("why a kernel does not run a step is said") {
  try {
    gpu_on_host()->compile(fixture("g (double[2,3] x) => (double[2,3] y) { y = Softmax (x) }"), {});
    FAIL("it was not refused");
  } catch (const Error& e) {
    CHECK(e.message == "the GPU backend cannot run Softmax giving 'y' (not float32, float16 or bfloat16)");
  }
}

TEST_CASE("what reads an input that is no tensor is named where a GPU refuses it") {
  const Model model = parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
    g (seq(float[2]) s) => (int64 n) { n = SequenceLength (s) })");
  const auto plan = gpu_on_host()->compile(model, {});
  try {
    plan->run(std::vector<Datum>{Datum::sequence({})});
    FAIL("it was not refused");
  } catch (const Error& e) {
    CHECK(e.code == Code::kUnsupported);
    CHECK(e.message == "the gpu backend takes tensors only, and SequenceLength giving 'n' reads another input");
  }
}

TEST_CASE("shapes that follow from data inside of a loop are refused on a GPU") {
  CHECK_THROWS_AS(gpu_on_host()
                      ->compile(fixture(R"(g (float[4] x, int64 n) => (int64[1,K] y) <int64[1,1] none = {0}> {
    y = Loop (n, , none) <body = b (int64 i, bool c, int64[1,L] v) => (bool k, int64[1,M] w) {
          k = Identity (c)  w = NonZero (x) }> })"),
                                {})
                      ->run(std::vector<Datum>{counting({4}), Tensor::scalar(int64_t{2})}),
                  Error);
}

}  // namespace mlopt::test
