#include "core/exec/plan.h"

#include <thread>

#include "core/base/memory.h"
#include "core/exec/interpreter.h"
#include "core/onnx/infer.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/thrown.h"

using namespace mlopt;

namespace {

// Kernels of float32 vectors. Planned ones are marked, so that a test sees which way a value went.

template <int kAdded>
Expected<PlannedStep> plan_add(const Site& site) {
  PlannedStep step{.out = {site.desc(0)}};
  step.in_place = 0;
  step.run = [count = site.desc(0).size()](const Buffers& b) {
    for (int64_t i = 0; i < count; ++i) b.out<float>(0)[i] = b.in<float>(0)[i] + kAdded;
  };
  return step;
}

Expected<PlannedStep> plan_sum(const Site& site) {
  PlannedStep step{.out = {site.desc(0)}, .in_place = 1};
  step.scratch_bytes = site.desc(0).bytes();
  step.run = [count = site.desc(0).size()](const Buffers& b) {
    auto* sum = reinterpret_cast<float*>(b.scratch);
    for (int64_t i = 0; i < count; ++i) sum[i] = b.in<float>(0)[i] + b.in<float>(1)[i];
    std::copy_n(sum, count, b.out<float>(0));
  };
  return step;
}

int in_place;  // parts that a pair found where they belong: a kernel is a plain function, it counts here

Expected<PlannedStep> plan_view(const Site& site) {
  PlannedStep step{.out = {site.desc(0)}};
  step.view_of = 0;
  return step;
}

Expected<PlannedStep> plan_reshape(const Site& site) {
  const auto dims = site.view.node().output(0)->type.static_dims();
  if (!dims) return Decline{"its shape is not known"};
  PlannedStep step{.out = {{DType::kF32, *dims}}};
  step.view_of = 0;
  return step;
}

Expected<PlannedStep> plan_tail(const Site& site) {
  PlannedStep step{.out = {{DType::kF32, {site.desc(0).dims[0] - 1}}}};
  step.view_of = 0;
  step.view_offset = sizeof(float);
  return step;
}

/// The input, then again; the first may lie there already.
Expected<PlannedStep> plan_pair(const Site& site) {
  const int64_t count = site.desc(0).size();
  PlannedStep step{.out = {{DType::kF32, {count + site.desc(1).size()}}}};
  step.parts = {0, count * static_cast<int64_t>(sizeof(float))};
  step.run = [count, other = site.desc(1).size()](const Buffers& b) {
    const bool lies[] = {b.in<float>(0) == b.out<float>(0), b.in<float>(1) == b.out<float>(0) + count};
    if (!lies[0]) std::copy_n(b.in<float>(0), count, b.out<float>(0));
    if (!lies[1]) std::copy_n(b.in<float>(1), other, b.out<float>(0) + count);
    in_place += lies[0] + lies[1];
  };
  return step;
}

/// Two thirds of the memory that is free, of which nothing is written.
Expected<PlannedStep> plan_vast(const Site&) {
  return PlannedStep{.out = {{DType::kF32, {available_memory() / 6}}}, .run = [](const Buffers&) {}};
}

Expected<PlannedStep> plan_never(const Site&) { return Decline{"never"}; }

/// Leaves out negative numbers: the shape depends on the data.
void keep_positive(Call& call) {
  std::vector<float> kept;
  for (const float v : call.in(0).span<float>())
    if (v > 0) kept.push_back(v);
  call.set(0, Tensor::of<float>({static_cast<int64_t>(kept.size())}, kept));
}

void pass_on(Call& call) { call.set(0, call.datum(0)); }

void negate(Call& call) {
  Tensor& y = call.make(0, DType::kF32, call.in(0).dims());
  for (int64_t i = 0; i < y.size(); ++i) y.mutable_data<float>()[i] = -call.in(0).data<float>()[i];
}

void add_ten(Call& call) {
  Tensor& y = call.make(0, DType::kF32, call.in(0).dims());
  for (int64_t i = 0; i < y.size(); ++i) y.mutable_data<float>()[i] = call.in(0).data<float>()[i] + 10;
}

constexpr Kernel kKernels[] = {
    {.domain = "test", .op = "One", .plan = plan_add<1>},
    {.domain = "test", .op = "Ten", .plan = plan_never},
    {.domain = "test", .op = "Ten", .plan = plan_add<10>},
    {.domain = "test", .op = "Ten", .run = add_ten},
    {.domain = "test", .op = "Sum", .plan = plan_sum},
    {.domain = "test", .op = "View", .plan = plan_view},
    {.domain = "test", .op = "Pair", .plan = plan_pair},
    {.domain = "", .op = "Reshape", .plan = plan_reshape},
    {.domain = "test", .op = "Tail", .plan = plan_tail},
    {.domain = "test", .op = "Positive", .run = keep_positive},
    {.domain = "test", .op = "Pass", .run = pass_on},
    {.domain = "", .op = "Neg", .run = negate},
    {.domain = "test", .op = "Vast", .plan = plan_vast},
    {.domain = "", .op = "Abs", .run = keep_positive},  // not what inference expects of Abs
};
constexpr KernelList kLists[] = {{"test", kKernels}};

std::unique_ptr<Executable> compiled(const std::string& inputs, const std::string& outputs, const std::string& body) {
  const std::string header = "<ir_version: 10, opset_import: [\"\" : 21, \"test\" : 1]> main (";
  return compile_interpreter(parse_text(header + inputs + ") => (" + outputs + ") {" + body + "}"), {}, kLists,
                             standard_types);
}

std::vector<float> floats(const Datum& d) {
  const auto all = d.tensor().span<float>();
  return {all.begin(), all.end()};
}

std::vector<std::vector<float>> run(Executable& plan, const std::vector<float>& x) {
  std::vector<std::vector<float>> outputs;
  for (const Datum& d : plan.run(std::vector<Datum>{Tensor::of<float>({static_cast<int64_t>(x.size())}, x)}))
    outputs.push_back(floats(d));
  return outputs;
}

using Rows = std::vector<std::vector<float>>;

}  // namespace

TEST_CASE("planned steps follow one another in place, and every output is what it should be") {
  const auto plan =
      compiled("float[3] x", "float[3] y, float[3] z",
               "a = test.One (x) b = test.Ten (a) y = test.Sum (a, b) c = test.One (b) z = test.Sum (c, x)");
  CHECK(run(*plan, {1, 2, 3}) == Rows{{14, 16, 18}, {14, 16, 18}});
  CHECK(run(*plan, {0, 0, 5}) == Rows{{12, 12, 22}, {12, 12, 22}});
}

TEST_CASE("an output belongs to the caller") {
  const auto plan = compiled("float[2] x", "float[2] a, float[2] v, float[2] w, float[2] y",
                             "a = test.One (x) v = test.View (a) w = test.View (x) y = test.Ten (v)");
  const std::vector<Datum> first = plan->run(std::vector<Datum>{Tensor::of<float>({2}, {1, 2})});
  run(*plan, {50, 60});
  CHECK(floats(first[0]) == std::vector<float>{2, 3});
  CHECK(floats(first[1]) == std::vector<float>{2, 3});
  CHECK(floats(first[2]) == std::vector<float>{1, 2});
  CHECK(floats(first[3]) == std::vector<float>{12, 13});
}

TEST_CASE("values that together do not fit into memory are refused before one is written") {
  const auto plan = compiled("float[2] x", "float[n] y, float[n] z", "y = test.Vast (x) z = test.Vast (x)");
  const Error error = test::thrown_by([&] { plan->run(std::vector<Datum>{Tensor::of<float>({2}, {1, 2})}); });
  CHECK(error.code == Code::kUnsupported);
  CHECK_THAT(error.message, Catch::Matchers::Contains("for the values of a run"));
}

TEST_CASE("the memory of outputs serves again once the caller has let go of them") {
  const auto plan = compiled("float[2] x", "float[2] a, float[2] v, float[2] y",
                             "a = test.One (x) b = test.Ten (a) v = test.View (b) y = test.Sum (b, a)");
  const auto run_once = [&] { return plan->run(std::vector<Datum>{Tensor::of<float>({2}, {1, 2})}); };
  const auto places = [](const std::vector<Datum>& outputs) {
    std::vector<const std::byte*> found;
    for (const Datum& d : outputs) found.push_back(d.tensor().raw());
    return found;
  };
  const auto before = places(run_once());
  const std::vector<Datum> held = run_once();
  CHECK(places(held) == before);
  const std::vector<Datum> other = run_once();
  for (size_t i = 0; i < before.size(); ++i) CHECK(places(other)[i] != before[i]);
  CHECK(floats(held[2]) == std::vector<float>{14, 16});
}

TEST_CASE("a value that is still read is not overwritten in place") {
  const auto plan = compiled("float[3] x", "float[3] y",
                             "a = test.One (x) t = test.Tail (a) b = test.Ten (a) s = test.One (t) "
                             "u = test.Tail (b) v = test.Sum (s, u) y = test.Sum (a, b) n = test.Sum (v, v)");
  CHECK(run(*plan, {1, 2, 3}) == Rows{{14, 16, 18}});
  const auto views =
      compiled("float[3] x", "float[2] y", "a = test.One (x) t = test.Tail (a) u = test.Tail (x) y = test.Sum (u, t)");
  CHECK(run(*views, {1, 2, 3}) == Rows{{5, 7}});
}

TEST_CASE("nodes without a plan run between those that have one") {
  const auto plan =
      compiled("float[3] x", "float[3] y", "a = test.One (x) b = Neg (a) c = test.View (b) y = test.Ten (c)");
  CHECK(run(*plan, {1, 2, 3}) == Rows{{8, 7, 6}});
}

TEST_CASE("shapes that depend on the data go their own way") {
  const auto plan = compiled("float[3] x", "float[n] y, float[3] z",
                             "a = test.One (x) p = test.Positive (a) y = test.Ten (p) z = test.Ten (a)");
  CHECK(run(*plan, {1, -5, 3}) == Rows{{12, 14}, {12, 6, 14}});
  CHECK(run(*plan, {1, 2, 3}) == Rows{{12, 13, 14}, {12, 13, 14}});
  CHECK(run(*plan, {-7, -7, -7}) == Rows{{}, {4, 4, 4}});
}

TEST_CASE("a value that a node hands on is not part of the arena") {
  const auto plan = compiled("float[2] x", "float[2] y, float[2] z",
                             "a = test.One (x) y = test.Pass (a) b = test.Ten (x) z = test.Sum (b, y)");
  const std::vector<Datum> first = plan->run(std::vector<Datum>{Tensor::of<float>({2}, {1, 2})});
  run(*plan, {50, 60});
  CHECK(floats(first[0]) == std::vector<float>{2, 3});
  CHECK(floats(first[1]) == std::vector<float>{13, 15});
}

TEST_CASE("where inference is wrong the graph runs node by node") {
  const auto plan = compiled("float[3] x", "float[n] y", "a = test.One (x) b = Abs (a) y = test.Ten (b)");
  CHECK(run(*plan, {1, -5, 3}) == Rows{{12, 14}});
  CHECK(run(*plan, {1, 2, 3}) == Rows{{12, 13, 14}});
}

TEST_CASE("constants are computed when the plan is made, and outputs may be constants or inputs") {
  const auto plan =
      compiled("float[2] x", "float[2] k, float[2] x, float[2] y",
               "c = Constant <value_floats = [1.0, 2.0]> () d = test.Ten (c) k = test.View (d) y = test.Sum (x, k)");
  CHECK(run(*plan, {5, 6}) == Rows{{11, 12}, {5, 6}, {16, 18}});
}

TEST_CASE("shapes that follow from folded constants are known to the plan") {
  const std::string header = "<ir_version: 10, opset_import: [\"\" : 21, \"test\" : 1]> main ";
  CompileOptions options;
  options.profile = true;
  const auto plan = compile_interpreter(
      parse_text(header + "(float[6] x) => (float[2,3] y) { s = Constant <value_ints = [2, 3]> () t = test.Pass (s) "
                          "a = Neg (x) b = Reshape (a, t) y = test.One (b) }"),
      options, kLists, standard_types);
  CHECK(run(*plan, {1, 2, 3, 4, 5, 6}) == Rows{{0, -1, -2, -3, -4, -5}});
  CHECK(plan->profile().size() == 2);  // the Reshape is a view: nothing runs
}

TEST_CASE("a plan is made for each shape, and empty tensors run too") {
  const auto plan = compiled("float[N] x", "float[N] y", "a = test.One (x) y = test.Ten (a)");
  for (int64_t n = 1; n < 40; ++n)
    REQUIRE(run(*plan, std::vector<float>(static_cast<size_t>(n), 1)) ==
            Rows{std::vector<float>(static_cast<size_t>(n), 12)});
  CHECK_THROWS_WITH(run(*plan, {}), Catch::Contains("no kernel for these inputs"));
}

TEST_CASE("parts of a joined value are made in their places where nothing else reads them") {
  in_place = 0;
  const auto both = compiled("float[2] x", "float[4] y", "a = test.One (x) b = test.Ten (x) y = test.Pair (a, b)");
  CHECK(run(*both, {1, 2}) == Rows{{2, 3, 11, 12}});
  CHECK(in_place == 2);
  const auto nested = compiled("float[2] x", "float[6] z",
                               "a = test.One (x) b = test.Ten (a) c = test.One (x) p = test.Pair (b, c) "
                               "q = test.One (p) d = test.Ten (x) z = test.Pair (q, d)");
  CHECK(run(*nested, {1, 2}) == Rows{{13, 14, 3, 4, 11, 12}});
  CHECK(in_place == 6);
  const auto none = compiled("float[2] x", "float[4] y, float[4] z, float[3] w",
                             "a = test.One (x) y = test.Pair (a, a) z = test.Pair (x, a) t = test.Tail (a) "
                             "w = test.Pair (a, t)");
  CHECK(run(*none, {1, 2}) == Rows{{2, 3, 2, 3}, {1, 2, 2, 3}, {2, 3, 3}});
  CHECK(in_place == 6);
}

TEST_CASE("runs may overlap") {
  const auto plan =
      compiled("float[N] x", "float[N] y", "a = test.One (x) b = Neg (a) c = test.Ten (b) y = test.Sum (a, c)");
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 300; ++round) {
        const std::vector<float> x(100 + t * 7 + static_cast<size_t>(round) % 3, static_cast<float>(round));
        wrong[t] += run(*plan, x) != Rows{std::vector<float>(x.size(), 10)};
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
}

TEST_CASE("every planned node has a row in the profile") {
  const std::string header = "<ir_version: 10, opset_import: [\"\" : 21, \"test\" : 1]> main ";
  CompileOptions options;
  options.profile = true;
  const auto plan = compile_interpreter(
      parse_text(header + "(float[2] x) => (float[2] y) { a = test.One (x) b = Neg (a) y = test.Ten (b) }"), options,
      kLists, standard_types);
  run(*plan, {1, 2});
  run(*plan, {1, 2});
  const std::vector<StepProfile> steps = plan->profile();
  REQUIRE(steps.size() == 3);
  CHECK(steps[0].op == "One");
  CHECK(steps[1].op == "Neg");
  CHECK(steps[2].calls == 2);
}
