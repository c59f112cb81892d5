#include "prune/curves.h"

#include <algorithm>
#include <cmath>

#include "prune/prune.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using prune::Curve;
using prune::Saving;
using prune::Shares;

namespace {

/// Losses at a quarter, a half and three quarters.
Curve curve(const std::string& name, double size, double first, double second, double third, double macs = 0) {
  return {name, size, {{0.25, first, macs / 4, 0}, {0.5, second, macs / 2, 0}, {0.75, third, macs * 3 / 4, 0}}};
}

/// Between the points along lines, beyond them as much again up to 1.
double loss_at(const Curve& c, double share) {
  double x = 0, y = 0;
  for (const prune::CurvePoint& p : c.points) {
    if (share <= p.share) return y + (p.loss - y) * (share - x) / (p.share - x);
    x = p.share, y = p.loss;
  }
  return y + y * (share - x) / (1 - x);
}

/// By trying all shares in steps of 1/64: the least loss of two curves, linear between points, that saves enough.
double least_loss(const Curve& a, const Curve& b, double wanted) {
  double best = INFINITY;
  for (double s = 0; s <= 1; s += 1.0 / 64)
    for (double t = 0; t <= 1; t += 1.0 / 64)
      if (s * a.size + t * b.size >= wanted * (a.size + b.size) - 1e-9)
        best = std::min(best, loss_at(a, s) + loss_at(b, t));
  return best;
}

}  // namespace

TEST_CASE("what is lost in all is the least that the curves allow") {
  const Curve easy = curve("easy", 64, 0.01, 0.03, 0.1), hard = curve("hard", 32, 0.02, 0.2, 1);
  for (const double wanted : {0.125, 0.25, 0.5, 0.625, 0.75, 0.875}) {
    const std::vector<Curve> both = {easy, hard};
    const Shares shares = prune::shares_of_least_loss(both, Saving::kSize, wanted);
    const double s = *prune::share_of(shares, "easy"), t = *prune::share_of(shares, "hard");
    CHECK(s * 64 + t * 32 == Approx(wanted * 96).epsilon(1e-3));
    CHECK(loss_at(easy, s) + loss_at(hard, t) == Approx(least_loss(easy, hard, wanted)).epsilon(0.02));
  }
  CHECK(prune::shares_of_least_loss(std::vector<Curve>{easy, hard}, Saving::kSize, 0) ==
        Shares{{"easy", 0}, {"hard", 0}});
  CHECK(prune::shares_of_least_loss(std::vector<Curve>{easy, hard}, Saving::kSize, 1) ==
        Shares{{"easy", 1}, {"hard", 1}});
}

TEST_CASE("where multiply-accumulates are wanted, layers that have many of them give more") {
  const std::vector<Curve> curves = {curve("dear", 16, 0.01, 0.03, 0.1, 0.8), curve("cheap", 16, 0.01, 0.03, 0.1, 0.1)};
  const Shares by_macs = prune::shares_of_least_loss(curves, Saving::kMacs, 0.5);
  CHECK(*prune::share_of(by_macs, "dear") > 0.5);
  CHECK(*prune::share_of(by_macs, "dear") > *prune::share_of(by_macs, "cheap"));
  const Shares by_size = prune::shares_of_least_loss(curves, Saving::kSize, 0.5);
  CHECK(*prune::share_of(by_size, "dear") == Approx(*prune::share_of(by_size, "cheap")).margin(0.26));
  // Nothing was timed: nothing is known to save time.
  CHECK(prune::shares_of_least_loss(curves, Saving::kTime, 0.5) == Shares{{"dear", 0}, {"cheap", 0}});
}

TEST_CASE("losses that fall by chance do not make more cheaper than less") {
  const std::vector<Curve> curves = {curve("lucky", 10, 0.5, 0.4, 0.001), curve("steady", 10, 0.1, 0.2, 0.3)};
  const Shares shares = prune::shares_of_least_loss(curves, Saving::kSize, 0.3);
  CHECK(*prune::share_of(shares, "steady") == Approx(0.6).margin(1e-3));
  CHECK(*prune::share_of(shares, "lucky") == Approx(0).margin(1e-3));
}

TEST_CASE("layers of the same name are told apart") {
  CHECK(prune::told_apart({"a", "b", "a", "a"}) == std::vector<std::string>{"a", "b", "a#2", "a#3"});
}

TEST_CASE("each layer and each group loses the share that the spec gives it, and what has none stays") {
  const Model source =
      test::fixture(R"(g (float[N,16] x, float[16,32] U, float[32,20] V, float[20,4] W) => (float[N,4] y) {
    [first] a = MatMul (x, U)
    b = Relu (a)
    [second] c = MatMul (b, V)
    d = Relu (c)
    [third] y = MatMul (d, W)
  })");
  prune::Means means;
  means.passes = test::pass_context();
  const auto pruned = [&](const std::string& spec) { return prune::prune(source, prune::parse_spec(spec), means); };
  const prune::Pruned zeros = pruned("magnitude:granularity=element;shares=first=0.25|third=0.5");
  REQUIRE(zeros.layers.size() == 2);
  CHECK(zeros.layers[0].sparsity() == 0.25);
  CHECK(zeros.layers[1].sparsity() == 0.5);
  CHECK(zeros.left.at("second") == "has no share");
  const prune::Pruned smaller = pruned("magnitude:granularity=channel;shares=second=0.5;round=none");
  CHECK(smaller.model.graph->find("V")->constant->dims() == Dims{32, 10});
  CHECK(test::error_of([&] {
          pruned("magnitude:granularity=channel;shares=secnd=0.5");
        }).find("did you mean 'second'") != std::string::npos);

  const std::vector<Curve> curves = {curve("first", 32, 0.01, 0.02, 0.03), curve("second", 20, 1, 2, 3)};
  means.curves = &curves;
  const prune::Pruned planned = pruned("magnitude:granularity=channel;sparsity=0.3;allocation=sensitivity;round=none");
  CHECK(planned.model.graph->find("V")->constant->dims() == Dims{16, 20});  // 15.6 of 52 channels, all of the first
  CHECK(planned.spec.allocation.empty());
  CHECK(pruned(to_string(planned.spec)).model.graph->find("V")->constant->dims() == Dims{16, 20});
  means.curves = nullptr;
  CHECK(test::error_of([&] { pruned("magnitude:granularity=channel;sparsity=0.3;allocation=sensitivity"); }) != "");
}
