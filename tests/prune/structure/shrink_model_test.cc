#include "prune/structure/shrink_model.h"

#include <algorithm>

#include "backends/reference/backend.h"
#include "core/calib/model_inputs.h"
#include "core/data/random.h"
#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "core/onnx/tools.h"
#include "prune/structure/propagate.h"
#include "prune/structure/prove.h"
#include "prune/structure/remove.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thrown.h"

using namespace mlopt;

namespace {

constexpr const char* kNet = R"(g (float[N,3,8,8] x, float[40,3,3,3] U, float[40] A, float[40,40,1,1] V, float[40] B,
      float[10,1440] W) => (float[N,10] y) {
    [stem] a = Conv (x, U, A)
    r = Relu (a)
    [body] b = Conv (r, V, B)
    s = Add (r, b)
    f = Flatten (s)
    [head] y = Gemm <transB = 1> (f, W)
  })";

struct Bench {
  std::unique_ptr<Backend> backend = reference_backend();
  Runner runner{*backend, inline_functions};
  prune::Means means;

  Bench() {
    means.runner = &runner;
    means.passes = test::pass_context();
  }
  prune::Pruned run(const Model& source, const std::string& spec) const {
    prune::Pruned made = prune::prune(source, prune::parse_spec(spec), means);
    CHECK(verify(made.model).empty());
    return made;
  }
};

const Tensor& constant(const Model& model, const std::string& name) { return *model.graph->find(name)->constant; }

/// Every third channel of the stem gets no weight at all: neither what makes it nor what reads it.
Model with_zero_channels() {
  Model model = test::fixture(kNet);
  const auto clear = [&](const std::string& name, int64_t outer, int64_t channels, int64_t inner) {
    float* w = model.graph->find(name)->constant->mutable_data<float>();
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t c = 0; c < channels; c += 3) std::fill_n(w + (o * channels + c) * inner, inner, 0.0F);
  };
  clear("U", 1, 40, 27);
  clear("A", 1, 40, 1);
  clear("V", 1, 40, 40);
  clear("V", 40, 40, 1);
  clear("B", 1, 40, 1);
  clear("W", 10, 40, 36);
  return model;
}

}  // namespace

TEST_CASE("why no channel was removed is said") {
  const Bench bench;
  const Model source = test::fixture(kNet);
  const prune::Pruned none = bench.run(source, "magnitude:granularity=channel;sparsity=0");
  REQUIRE(none.warnings.size() == 1);
  CHECK(none.warnings[0].find("asked is 0") != std::string::npos);
  const prune::Pruned little = bench.run(source, "magnitude:granularity=channel;sparsity=0.01;round=16");
  REQUIRE(little.warnings.size() == 1);
  CHECK(little.warnings[0].find("smaller than what is asked") != std::string::npos);
}

TEST_CASE("layers that share a vector lose channels of their own") {
  // As after `fuse`, which keeps equal biases once: the inner layer may lose other channels than the outer ones.
  const Model source = test::fixture(R"(g (float[1,8,4,4] x, float[16,8,1,1] U, float[16,16,1,1] V, float[16,16,1,1] W,
      float[16] Z, float[4,16,1,1] L) => (float[1,4,4,4] y) {
    a = Conv (x, U, Z)
    r = Relu (a)
    b = Conv (r, V, Z)
    s = Relu (b)
    c = Conv (s, W, Z)
    t = Add (r, c)
    y = Conv (t, L) })");
  const prune::Pruned made = Bench().run(source, "magnitude:granularity=channel;sparsity=0.5");
  CHECK(made.groups.size() == 2);
}

TEST_CASE("channels go with all that is coupled to them, and the rest computes what it did") {
  const prune::Pruned made = Bench().run(test::fixture(kNet), "magnitude:granularity=channel;sparsity=0.3;round=none");
  REQUIRE(made.groups.size() == 1);
  CHECK(made.groups[0].layers == std::vector<std::string>{"stem", "body"});
  CHECK(made.groups[0].channels == 40);
  CHECK(made.groups[0].kept == 28);
  CHECK(constant(made.model, "U").dims() == Dims{28, 3, 3, 3});
  CHECK(constant(made.model, "V").dims() == Dims{28, 28, 1, 1});
  CHECK(constant(made.model, "W").dims() == Dims{10, 28 * 36});
  CHECK(made.left.at("head").find("'y' is an output of the model") != std::string::npos);
  REQUIRE(made.proof);
  CHECK(made.proof->max_abs <= 1e-5 * made.proof->max_expected);
  CHECK(made.macs_before == 36 * (40 * 27 + 40 * 40) + 10 * 1440);
  CHECK(made.macs_after == 36 * (28 * 27 + 28 * 28) + 10 * 28 * 36);
}

TEST_CASE("widths are rounded up, and a threshold of zero takes only what adds nothing") {
  const Model source = with_zero_channels();
  CHECK(Bench().run(source, "magnitude:granularity=channel;sparsity=0.3").groups[0].kept == 32);
  CHECK(Bench().run(source, "magnitude:granularity=channel;sparsity=0.3;round=16").groups[0].kept == 32);
  CHECK(Bench().run(source, "magnitude:granularity=channel;sparsity=1;round=none").groups[0].kept == 1);
  const prune::Pruned made = Bench().run(source, "magnitude:granularity=channel;threshold=0");
  CHECK(made.groups[0].kept == 26);
  test::require_same_model(source, made.model, 1e-5);
}

TEST_CASE("the lowest channels go first, and a share of the FLOPs is met from below") {
  const prune::Pruned low = Bench().run(with_zero_channels(), "magnitude:granularity=channel;sparsity=0.35;round=none");
  CHECK(low.groups[0].kept == 26);
  test::require_same_model(with_zero_channels(), low.model, 1e-5);
  const prune::Pruned half = Bench().run(test::fixture(kNet), "magnitude:granularity=channel;flops=0.5;round=none");
  const double share = static_cast<double>(half.macs_after) / static_cast<double>(half.macs_before);
  CHECK(share <= 0.5);
  CHECK(share > 0.45);
}

TEST_CASE("a FLOPs target below one channel everywhere says what can be reached") {
  const Error error = test::thrown_by(
      [] { Bench().run(test::fixture(kNet), "magnitude:granularity=channel;flops=0.0001;round=none"); });
  CHECK(error.code == Code::kBadInput);
  CHECK(test::says(error, "cannot be reached"));
}

TEST_CASE("--skip keeps a layer and what is coupled to it, and names are checked") {
  const Error none =
      test::thrown_by([] { Bench().run(test::fixture(kNet), "magnitude:granularity=channel;sparsity=0.3;skip=body"); });
  CHECK(test::says(none, "coupled to what is"));
  const Error typo = test::thrown_by(
      [] { Bench().run(test::fixture(kNet), "magnitude:granularity=channel;sparsity=0.3;only=steem"); });
  CHECK(typo.code == Code::kUsage);
  CHECK(test::says(typo, "did you mean 'stem'"));
}

TEST_CASE("what is left is fitted to what the source gives") {
  const Model source = test::fixture(kNet);
  Bench bench;
  const auto data = random_dataset(model_inputs(source), {.count = 24, .seed = 3});
  bench.means.data = data.get();
  const auto error_of = [&](const std::string& spec) {
    const prune::Pruned made = bench.run(source, spec);
    CHECK(made.proof->max_abs <= 1e-5 * made.proof->max_expected);
    return std::pair(prune::pruned_from_masked(source, made.model, bench.runner, data.get(), 1).sqnr_db, made.samples);
  };
  const std::string spec = "magnitude:granularity=channel;sparsity=0.3;round=none";
  const auto [plain, none] = error_of(spec);
  const auto [fitted, samples] = error_of(spec + ";recover=lstsq");
  CHECK(none == 0);
  CHECK(samples == 24);
  CHECK(fitted > plain + 3);
  bench.means.data = nullptr;
  CHECK(test::thrown_by([&] { bench.run(source, spec + ";recover=lstsq"); }).code == Code::kUsage);
}

TEST_CASE("a model all of whose channels stay is refused with the reasons") {
  const Error error = test::thrown_by([] {
    Bench().run(test::fixture("g (float[N,3] x, float[3,4] W) => (float[N,4] y) { y = MatMul (x, W) }"),
                "magnitude:granularity=channel;sparsity=0.3");
  });
  CHECK(error.code == Code::kBadInput);
  CHECK(test::says(error, "4 channels stay: 'y' is an output of the model"));
}

TEST_CASE("heads are asked for by name, and there may be none") {
  const Error error =
      test::thrown_by([] { Bench().run(test::fixture(kNet), "magnitude:granularity=head;sparsity=0.5"); });
  CHECK(test::says(error, "no attention head"));
}

TEST_CASE("values of gigabytes are not made only to prove the result") {
  const std::string net =
      "g (float[N,3,4096,4096] x, float[16,3,1,1] U, float[8,16,1,1] V) => (float[N,8,1,1] y) "
      "{ a = Conv (x, U)  r = Relu (a)  b = Conv (r, V)  y = GlobalAveragePool (b) }";
  const prune::Pruned made = Bench().run(test::fixture(net), "magnitude:granularity=channel;sparsity=0.5;round=none");
  CHECK_FALSE(made.proof);
  REQUIRE(made.not_verified.size() == 1);
  CHECK_THAT(made.not_verified[0], Catch::Matchers::Contains("are much to make of generated data"));
}

TEST_CASE("the proof finds what is not what it should be") {
  Model model = test::fixture(kNet);
  infer(model, standard_types);
  const prune::Relations all = prune::relate_axes(model, prune::SplitBy::kInner);
  const prune::Groups found = prune::find_groups(all);
  const Model masked = prune::mask_channels(model, all, found.groups, {{0, 1, 2}});
  const Model pruned = prune::remove_channels(model, all, found.groups, {{0, 1, 3}}, standard_types);
  const Bench bench;
  const Difference difference = prune::pruned_from_masked(masked, pruned, bench.runner, nullptr, 1);
  const Error error = test::thrown_by([&] { prune::require_proof(difference, model); });
  CHECK(error.code == Code::kInternal);
  const auto accepts = [&](double max_abs, double sqnr_db) {
    try {
      prune::require_proof({.max_abs = max_abs, .max_expected = 100, .sqnr_db = sqnr_db}, model);
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  CHECK(accepts(0.004, 60));
  CHECK(accepts(0.02, 80));  // rounding that a normalization multiplied
  CHECK_FALSE(accepts(0.02, 60));
  CHECK_FALSE(accepts(0.2, 80));
}

TEST_CASE("a model that gives NaN or infinity cannot be proven, one that gets them by the removal is wrong") {
  const Model model = test::fixture(kNet);
  const auto code_of = [&](bool lost_numbers) {
    const Difference difference{.max_expected = 1, .same_nonfinite = false, .lost_numbers = lost_numbers};
    return test::thrown_by([&] { prune::require_proof(difference, model); }).code;
  };
  CHECK(code_of(false) == Code::kBadInput);
  CHECK(code_of(true) == Code::kInternal);
}

TEST_CASE("a weight that is no number goes only where none are compared") {
  Model model = test::fixture(kNet);
  model.graph->find("W")->constant->mutable_data<float>()[0] = NAN;
  const std::string rest = ":granularity=channel;sparsity=0.5";
  for (const char* method : {"magnitude", "geometric-median"})
    CHECK(test::says(test::thrown_by([&] { Bench().run(model, method + rest); }), "--skip W"));
  CHECK(!Bench().run(model, "random" + rest).groups.empty());
}

TEST_CASE("an input whose element type is not known is named") {
  Model model = test::fixture(R"(g (float[N,8] x, float[8,16] U, float[16,4] W) => (float[N,4] y) {
    a = MatMul (x, U)
    r = Relu (a)
    y = MatMul (r, W)
  })");
  model.graph->find("x")->type.dtype = DType::kUndefined;
  const Error error =
      test::thrown_by([&] { Bench().run(model, "magnitude:granularity=channel;sparsity=0.5;round=none"); });
  CHECK(error.code == Code::kBadInput);
  CHECK(test::says(error, "the element type of 'x' is not known"));
}

TEST_CASE("channels that are repeated without end stay") {
  Model model = test::fixture(R"(g (float[N,3] x, float[3,8] U) => (float[N,8796093022208] y)
      <int64[2] times = {1, 1099511627776}> {
    a = MatMul (x, U)
    t = Tile (a, times)
    y = Relu (t)
  })");
  infer(model, standard_types);
  const prune::Groups found = prune::find_groups(prune::relate_axes(model, prune::SplitBy::kInner));
  CHECK(found.groups.empty());
  REQUIRE(found.pinned.size() == 1);
  CHECK_THAT(found.pinned[0].reason, Catch::Matchers::Contains("it repeats too often"));
}

TEST_CASE("what is cut waits in a file where a folder is given, and is the same") {
  const Model source = test::fixture(kNet);
  Bench bench;
  const prune::Pruned held = bench.run(source, "magnitude:granularity=channel;sparsity=0.25");
  const test::TempDir folder;
  bench.means.spill = folder.path().string();
  const prune::Pruned spilled = bench.run(source, "magnitude:granularity=channel;sparsity=0.25");
  int views = 0;
  for (const Value* v : held.model.graph->initializers()) {
    const Tensor& waits = *spilled.model.graph->find(v->name)->constant;
    REQUIRE(waits.bytes() == v->constant->bytes());
    CHECK(std::equal(waits.raw(), waits.raw() + waits.bytes(), v->constant->raw()));
    views += waits.is_view() && !v->constant->is_view();
  }
  CHECK(views == 1);  // the large one
}
