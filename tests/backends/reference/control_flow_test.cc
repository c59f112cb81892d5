#include "backends/reference/backend.h"
#include "core/base/error.h"
#include "core/onnx/io.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

std::vector<Datum> run_text(std::string_view graph, const std::vector<Datum>& inputs, int opset = 19) {
  const std::string header = "<ir_version: 9, opset_import: [\"\" : " + std::to_string(opset) + "]>\n";
  const Model model = parse_text(header + std::string(graph));
  return reference_backend()->compile(model, {})->run(inputs);
}

std::string message_of(std::string_view graph, const std::vector<Datum>& inputs) {
  try {
    run_text(graph, inputs);
  } catch (const Error& error) {
    return error.what();
  }
  FAIL("the graph ran although it must not");
  return {};
}

constexpr const char* kSum = R"(
g (int64 n, bool c, float[1] x) => (float[1] y, float[N,1] all) {
  y, all = Loop (n, c, x) <body = b (int64 i, bool go, float[1] a) => (bool again, float[1] next, float[1] seen) {
    limit = Constant <value = float {10.0}> ()
    next = Add (a, x)
    again = Less (next, limit)
    seen = Identity (next)
  }>
})";

TEST_CASE("Loop carries, collects and reads the outer graph") {
  const auto run = [](int64_t n, bool c) {
    return run_text(kSum, {Tensor::scalar(n), Tensor::scalar(c), tensor({1}, {2})});
  };
  const std::vector<Datum> three = run(3, true);
  require_close(three[0].tensor(), tensor({1}, {8}));
  require_close(three[1].tensor(), tensor({3, 1}, {4, 6, 8}));
  require_close(run(100, true)[0].tensor(), tensor({1}, {10}));  // the condition ends it
  REQUIRE(run(0, true)[1].tensor().dims() == Dims{0, 1});
  REQUIRE(run(5, false)[1].tensor().dims() == Dims{0, 1});
  require_close(run(-1, true)[0].tensor(), tensor({1}, {2}));
}

TEST_CASE("what a Loop that never ran collected has the type of its own output where the body declares none") {
  for (const std::string declared : {"o", "float[] o"}) {
    const std::string graph =
        "g (int64 n, float[2] x) => (float[K,2] y) <bool go = {1}> { s, y = Loop (n, go, x) <body = "
        "b (int64 i, bool c, float[2] a) => (c2, a2, " +
        declared + ") { c2 = Identity (c)  a2 = Neg (a)  o = Abs (a) }> }";
    const auto run = [&](int64_t n) { return run_text(graph, {Tensor::scalar(n), tensor({2}, {1, 2})})[0].tensor(); };
    REQUIRE(run(0).dims() == Dims{0, 2});
    REQUIRE(run(0).dtype() == DType::kF32);
    REQUIRE(run(3).dims() == Dims{3, 2});
  }
}

TEST_CASE("a Loop that cannot end is refused") {
  const char* endless = R"(
g (float[1] x) => (float[1] y) {
  y = Loop (, , x) <body = b (int64 i, bool go, float[1] a) => (bool again, float[1] next) {
    next = Identity (a)
    again = Identity (go)
  }>
})";
  REQUIRE_THAT(message_of(endless, {tensor({1}, {1})}), Catch::Contains("never ends"));
}

TEST_CASE("a Loop of too many iterations is stopped") {
  const char* long_one = R"(
g (float[1] x) => (float[1] y) <int64 most = {4611686018427387904}> {
  y = Loop (most, , x) <body = b (int64 i, bool go, float[1] a) => (bool again, float[1] next) {
    next = Identity (a)
    again = Identity (go)
  }>
})";
  REQUIRE_THAT(message_of(long_one, {tensor({1}, {1})}), Catch::Contains("more than 1048576 iterations"));
}

TEST_CASE("a body that joins its value with itself is stopped by name, in Loop and in Scan") {
  const char* loop = R"(
g (int64 n, float[N] x) => (float[M] y) {
  y = Loop (n, , x) <body = b (int64 i, bool go, float[K] a) => (bool again, float[L] next) {
    again = Identity (go)
    next = Concat <axis = 0> (a, a)
  }>
})";
  const char* scan = R"(
g (float[N] x, float[30] steps) => (float[M] y) {
  y = Scan <num_scan_inputs = 1, body = b (float[K] a, float step) => (float[L] next) {
    next = Concat <axis = 0> (a, a)
  }> (x, steps)
})";
  const Tensor large = Tensor::zeros(DType::kF32, {4 << 20});
  REQUIRE_THAT(message_of(loop, {Tensor::scalar(int64_t{30}), large}),
               Catch::Contains("keeps growing") && Catch::Contains("Loop giving 'y'"));
  REQUIRE_THAT(message_of(scan, {large, Tensor::zeros(DType::kF32, {30})}), Catch::Contains("Scan giving 'y'"));
}

TEST_CASE("If runs the branch that the condition names, whatever the order of its attributes") {
  const std::string then = "then_branch = t () => (float[1] a) { a = Add (x, x) }";
  const std::string other = "else_branch = e () => (float[1] b) { b = Neg (x) }";
  const bool swapped = GENERATE(false, true);
  const std::string branches = swapped ? other + ", " + then : then + ", " + other;
  const std::string graph = "g (bool c, float[1] x) => (float[1] y) { y = If (c) <" + branches + "> }";
  require_close(run_text(graph, {Tensor::scalar(true), tensor({1}, {3})})[0].tensor(), tensor({1}, {6}));
  require_close(run_text(graph, {Tensor::scalar(false), tensor({1}, {3})})[0].tensor(), tensor({1}, {-3}));
}

constexpr const char* kScanBody = R"(body = b (float[1] s, float[2] x) => (float[1] t, float[1] o) {
    axes = Constant <value = int64[1] {0}> ()
    sum = ReduceSum <keepdims = 1> (x, axes)
    t = Add (s, sum)
    o = Identity (t)
  })";

TEST_CASE("Scan walks an axis forwards and backwards") {
  const Tensor zero = tensor({1}, {0}), steps = tensor({3, 2}, {1, 2, 3, 4, 5, 6});
  const auto graph = [](const std::string& more) {
    return "g (float[1] s, float[N,M] x) => (float[1] y, float[P,Q] all) { y, all = Scan <num_scan_inputs = 1, " +
           more + kScanBody + "> (s, x) }";
  };
  const std::vector<Datum> forward = run_text(graph(""), {zero, steps});
  require_close(forward[0].tensor(), tensor({1}, {21}));
  require_close(forward[1].tensor(), tensor({3, 1}, {3, 10, 21}));
  const std::vector<Datum> backward = run_text(
      graph("scan_input_directions = [1], scan_output_directions = [1], scan_output_axes = [-1], "), {zero, steps});
  require_close(backward[1].tensor(), tensor({1, 3}, {21, 18, 11}));
  const std::vector<Datum> columns = run_text(graph("scan_input_axes = [1], "), {zero, tensor({2, 2}, {1, 2, 3, 4})});
  require_close(columns[1].tensor(), tensor({2, 1}, {4, 10}));
  REQUIRE(run_text(graph(""), {zero, Tensor(DType::kF32, {0, 2})})[1].tensor().dims() == Dims{0, 1});
}

TEST_CASE("Scan of opset 8 has a batch and a length for each sequence") {
  const char* graph = R"(
g (int64[2] lengths, float[2,1] s, float[2,2,1] x) => (float[2,1] y, float[2,2,1] all) {
  y, all = Scan <num_scan_inputs = 1, body = b (float[1] s0, float[1] x0) => (float[1] t, float[1] o) {
    t = Add (s0, x0)
    o = Identity (t)
  }> (lengths, s, x)
})";
  const std::vector<Datum> out =
      run_text(graph, {Tensor::ints({1, 2}), tensor({2, 1}, {0, 5}), tensor({2, 2, 1}, {1, 2, 3, 4})}, 8);
  require_close(out[0].tensor(), tensor({2, 1}, {1, 12}));
  require_close(out[1].tensor(), tensor({2, 2, 1}, {1, 0, 8, 12}));
}

}  // namespace
}  // namespace mlopt::test
