#include "backends/gpu/staged.h"

#include <thread>

#include "backends/reference/backend.h"
#include "core/base/error.h"
#include "core/onnx/infer.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"
#include "tests/support/rewrite.h"

namespace mlopt::test {
namespace {

/// Requires of the graph, as fixture() takes it, what the reference backend gives, for each of the inputs by one plan.
void require_staged(const std::string& graph, const std::vector<std::vector<Datum>>& runs, int64_t opset = 21) {
  const Model model = fixture(graph, opset);
  const auto plan = gpu_on_host()->compile(model, {}), judge = reference_backend()->compile(model, {});
  for (const std::vector<Datum>& inputs : runs) {
    const std::vector<Datum> expected = judge->run(inputs), got = plan->run(inputs);
    REQUIRE(got.size() == expected.size());
    for (size_t i = 0; i < got.size(); ++i) require_close(got[i].tensor(), expected[i].tensor(), 1e-6);
  }
}

/// A sixth of them above 0.
Tensor sparse(Dims dims, uint64_t seed) { return run_op("Relu", {uniform(std::move(dims), -5, 1, DType::kF32, seed)}); }

}  // namespace

TEST_CASE("places of what is not zero on a GPU, however many there are") {
  require_staged(
      "g (float[N,M] x) => (int64[2,K] y) { y = NonZero (x) }",
      {{sparse({70, 90}, 1)}, {sparse({70, 90}, 2)}, {Tensor::zeros(DType::kF32, {3, 4})}, {counting({5, 1})}});
  for (const DType type : {DType::kBool, DType::kI64, DType::kF16})
    require_on_gpu("NonZero", {run_op("Cast", {sparse({4, 3, 5}, 3)}, {.attrs = {attr("to", static_cast<int>(type))}})},
                   {}, 0);
}

TEST_CASE("what follows places that data say is planned for each of their numbers") {
  require_staged(R"(g (float[N] x, float[N] z) => (float[K] y, float s) {
    e = Exp (x)  p = NonZero (z)  l = Squeeze (p)  t = Gather (e, l)  y = Neg (t)  s = ReduceSum <keepdims = 0> (t) })",
                 {{uniform({9}, -1, 1), tensor({9}, {0, 1, 0, 0, 2, 0, 3, 0, 0})},
                  {uniform({9}, -1, 1), tensor({9}, {0, 1, 1, 1, 2, 0, 3, 0, 0})},
                  {uniform({5}, -1, 1), tensor({5}, {1, 0, 1, 0, 1})}});
  // One stage behind the other, with values that skip one.
  require_staged(R"(g (float[8] x) => (float[K] y, int64[1,L] q) <int64[1] flat = {-1}, float half = {0.5}> {
    r = Relu (x)  p = NonZero (r)  l = Reshape (p, flat)  t = Gather (x, l)  m = Sub (t, half)  d = Relu (m)
    q = NonZero (d)  k = Reshape (q, flat)  y = Gather (r, k) })",
                 {{uniform({8}, -1, 1)}, {uniform({8}, -1, 1, DType::kF32, 3)}});
}

TEST_CASE("branches that count are taken once what decides them is counted") {
  require_staged(R"(g (float[N] x) => (int64[K] y) <int64 zero = {0}, int64[1] flat = {-1}, int64[1] one = {1}> {
    r = Relu (x)  p = NonZero (r)  l = Reshape (p, flat)  t = Gather (x, l)
    s = Shape (t)  n = ReduceProd <keepdims = 0> (s)  none = Equal (n, zero)
    y = If (none) <then_branch = a () => (int64[1] q) { q = Identity (one) },
                   else_branch = b () => (int64[M] q) {
                     e = Exp (t)  f = Floor (e)  g = Sub (f, f)  h = Add (g, t)  k = NonZero (h)  q = Reshape (k, flat) }>
  })",
                 {{uniform({9}, -1, 1)}, {uniform({9}, -1, 1, DType::kF32, 5)}, {uniform({4}, -2, -1)}});
}

TEST_CASE("branches that count are taken by a condition that is given") {
  require_staged(R"(g (float[4] x, bool c) => (int64[1,K] y) {
    n = Not (c)  y = If (n) <then_branch = t () => (int64[1,L] a) { a = NonZero (x) },
                             else_branch = e () => (int64[1,M] b) { r = Relu (x)  b = NonZero (r) }> })",
                 {{tensor({4}, {1, -1, 0, 2}), Tensor::scalar(true)},
                  {tensor({4}, {1, -1, 0, 2}), Tensor::scalar(false)},
                  {tensor({4}, {0, -1, 0, 2}), Tensor::scalar(true)}});
}

TEST_CASE("a branch that cannot be made is refused each time, and others run") {
  const Model model = fixture(R"(g (float[N] x, bool c) => (int64[1,K] y) <float[5] five = {1, 2, 3, 4, 5}> {
    y = If (c) <then_branch = t () => (int64[1,L] a) { a = NonZero (x) },
                else_branch = e () => (int64[1,M] b) { r = Add (x, five)  b = NonZero (r) }> })");
  const auto plan = gpu_on_host()->compile(model, {});
  const Tensor x = tensor({4}, {1, -1, 0, 2});
  for (int time = 0; time < 2; ++time) {
    CHECK(plan->run(std::vector<Datum>{x, Tensor::scalar(true)})[0].tensor().dims() == Dims{1, 3});
    for (int again = 0; again < 2; ++again)
      CHECK_THROWS_AS(plan->run(std::vector<Datum>{x, Tensor::scalar(false)}), Error);
  }
}

TEST_CASE("one plan with branches that count runs on a GPU for several threads at once") {
  const Model model = fixture(R"(g (float[N] x, bool c) => (int64[1,K] y) {
    y = If (c) <then_branch = t () => (int64[1,L] a) { a = NonZero (x) },
                else_branch = e () => (int64[1,M] b) { r = Relu (x)  b = NonZero (r) }> })");
  const auto plan = gpu_on_host()->compile(model, {});
  constexpr int kThreads = 4;
  std::vector<int> wrong(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      const bool all = t % 2 == 0;
      const std::vector<Datum> inputs{tensor({4 + t}, std::vector<double>(static_cast<size_t>(4 + t), all ? 1 : -1)),
                                      Tensor::scalar(all)};
      for (int time = 0; time < 200; ++time)
        wrong[static_cast<size_t>(t)] += plan->run(inputs)[0].tensor().dims() != Dims{1, all ? 4 + t : 0};
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(kThreads));
}

TEST_CASE("outputs that are constants stay so beside places on a GPU") {
  require_staged("g (float[N] x) => (int64[1,K] y, float[1] w) <float[1] w = {1}> { y = NonZero (x) }",
                 {{counting({4})}, {counting({2})}});
}

TEST_CASE("places in nothing on a GPU") {
  require_staged(R"(g (float[N] x) => (int64[1,K] y) <int64[1] flat = {-1}> {
    r = Relu (x)  p = NonZero (r)  l = Reshape (p, flat)  t = Gather (x, l)  y = NonZero (t) })",
                 {{uniform({4}, -2, -1)}, {uniform({9}, -1, 1)}});
}

TEST_CASE("boxes that better ones do not hide on a GPU") {
  const Tensor boxes = uniform({2, 60, 4}, 0, 10), scores = uniform({2, 3, 60}, 0, 1, DType::kF32, 2);
  const Datum most = Tensor::ints({7}).reshaped({}), overlap = tensor({}, {0.3}), score = tensor({}, {0.4});
  for (const int center : {0, 1}) {
    const OpOptions options{.attrs = {attr("center_point_box", center)}};
    require_on_gpu("NonMaxSuppression", {boxes, scores, most, overlap, score}, options, 0);
    require_on_gpu("NonMaxSuppression", {boxes, scores, Tensor::ints({60}), overlap}, options, 0);
    require_on_gpu("NonMaxSuppression", {boxes, scores, most}, options, 0);
  }
  const Tensor ties = Tensor::zeros(DType::kF32, {1, 1, 60});  // the first of equals, and nothing above a limit
  const Tensor one = uniform({1, 60, 4}, 0, 10);
  require_on_gpu("NonMaxSuppression", {one, ties, most, overlap}, {}, 0);
  require_on_gpu("NonMaxSuppression", {one, ties, most, overlap, score}, {}, 0);
}

TEST_CASE("groups of equal slices on a GPU") {
  const Tensor x = tensor({9}, {3, 1, 2, 3, NAN, 1, -7, 3, NAN});
  const Tensor rows = tensor({4, 2}, {1, 2, 0, 5, 1, 2, 0, 4}, DType::kI64);
  for (const int sorted : {0, 1}) {
    require_on_gpu("Unique", {x}, {.attrs = {attr("sorted", sorted)}, .outputs = 4}, 0);
    for (const int axis : {0, -1})
      require_on_gpu("Unique", {rows}, {.attrs = {attr("sorted", sorted), attr("axis", axis)}, .outputs = 4}, 0);
  }
}

TEST_CASE("what a condition of the data keeps on a GPU") {
  const Tensor x = counting({3, 4}), condition = tensor({3}, {1, 0, 1}, DType::kBool);
  require_on_gpu("Compress", {x, condition}, {.attrs = {attr("axis", 0)}}, 0);
  require_staged(R"(g (float[6] x) => (float[K] y) { z = Constant <value_float = 0.1> ()  c = Greater (x, z)
                    y = Compress (x, c) })",
                 {{uniform({6}, -1, 1)}, {uniform({6}, -1, 1, DType::kF32, 5)}, {Tensor::zeros(DType::kF32, {6})}});
}

TEST_CASE("places that follow from shapes make no stages") {
  const Model known = fixture(R"(g (float[N] x) => (int64[1,K] y) {
    s = Shape (x)  o = ConstantOfShape <value = int64[1] {1}> (s)  y = NonZero (o) })");
  CHECK_FALSE(gpu::with_counts(known, standard_types));
  CHECK(gpu::with_counts(fixture("g (float[3] x) => (int64[1,K] y) { y = NonZero (x) }"), standard_types));
  require_staged(R"(g (float[N] x) => (int64[1,K] y) {
    s = Shape (x)  o = ConstantOfShape <value = int64[1] {1}> (s)  y = NonZero (o) })",
                 {{counting({5})}, {counting({2})}});
}

}  // namespace mlopt::test
