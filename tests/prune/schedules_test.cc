#include "prune/schedules.h"

#include <algorithm>
#include <cmath>

#include "core/tensor/cast.h"
#include "prune/prune.h"
#include "tests/support/catch.h"
#include "tests/support/sparse_training.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

using Weights = std::map<std::string, std::vector<double>>;

prune::Spec spec_of(const std::string& text) { return prune::parse_spec(text); }

prune::ScheduleSetting setting_of(const Net& net, const prune::Spec& spec) {
  return {net.model, spec, SparseTraining::kSteps,
          [](const Model& now, const prune::Spec& part, const prune::Movements* movements) {
            prune::Means means;
            means.movements = movements;
            return std::move(prune::prune(now, part, means).model);
          }};
}

SparseTraining train_with(const Net& net, const prune::ScheduleParts& parts) {
  return train_sparse(
      net, [&](train::Recipe& recipe) { recipe.constrain = parts.constrain; }, parts.hooks);
}

Weights matrices(const train::TrainingGraphs& graphs) {
  return {{"w", to_doubles(graphs.state->at("w"))}, {"v", to_doubles(graphs.state->at("v"))}};
}

int64_t zeros_of(const Weights& weights) {
  return std::count(weights.at("w").begin(), weights.at("w").end(), 0.0) +
         std::count(weights.at("v").begin(), weights.at("v").end(), 0.0);
}

/// The network with these weights, pruned as `spec` says.
Net pruned(const Weights& weights, const std::string& spec) {
  Net net = sparse_network();
  for (const auto& [name, numbers] : weights) {
    Tensor& tensor = *net.graph().find(name)->constant;
    tensor = cast(Tensor::of<double>(tensor.dims(), numbers), DType::kF32);
  }
  net.model = prune::prune(net.model, spec_of(spec), {}).model;
  return net;
}

/// `net` with zeros where `mask` has them.
void mask_like(Net& net, const Net& mask) {
  for (const char* name : {"w", "v"}) {
    std::vector<double> numbers = to_doubles(*net.graph().find(name)->constant);
    const std::vector<double> kept = to_doubles(*mask.model.graph->find(name)->constant);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = kept[i] == 0 ? 0 : numbers[i];
    Tensor& tensor = *net.graph().find(name)->constant;
    tensor = cast(Tensor::of<double>(tensor.dims(), numbers), DType::kF32);
  }
}

void keep_zeros(train::Recipe& recipe) { recipe.keep_zeros = true; }

}  // namespace

TEST_CASE("gradual removes along a cubic, and what is gone stays so") {
  const Net net = sparse_network();
  const prune::Spec spec = spec_of("magnitude:sparsity=0.7;schedule=gradual;every=20");
  prune::ScheduleParts parts = prune::schedule_parts(setting_of(net, spec));
  Weights last;
  int removals = 0;
  parts.hooks.before = [&, usual = parts.hooks.before](int64_t done, const train::TrainingGraphs& graphs) {
    const int64_t was = zeros_of(matrices(graphs));
    usual(done, graphs);
    const Weights now = matrices(graphs);
    for (const auto& [name, before] : last)
      for (size_t i = 0; i < before.size(); ++i)
        if (before[i] == 0) CHECK(now.at(name)[i] == 0);
    last = now;
    const bool moment = done > 0 && done <= 200 && done % 20 == 0;
    removals += moment;
    const double left = 1 - static_cast<double>(done) / 200;
    CHECK(zeros_of(now) == (moment ? std::llround(112 * 0.7 * (1 - left * left * left)) : was));
  };
  const SparseTraining t = train_with(net, parts);
  CHECK(removals == 10);
  CHECK(zeros(t.at_end.at("w")) * 96 + zeros(t.at_end.at("v")) * 16 == 78);
  CHECK(zeros(t.at_end.at("b")) == 0);
  // Better than what is removed at once, with as many updates.
  const Net once = pruned({}, "magnitude:sparsity=0.7");
  CHECK(error_with(t.at_end) < error_with(train_sparse(once, keep_zeros).at_end));
}

TEST_CASE("lottery trains, removes, and trains what it was at first again") {
  const Net net = sparse_network();
  const prune::Spec spec = spec_of("magnitude:sparsity=0.6;schedule=lottery");
  const SparseTraining t = train_with(net, prune::schedule_parts(setting_of(net, spec)));
  const SparseTraining dense = train_sparse(net, [](train::Recipe&) {});
  Net ticket = sparse_network();
  mask_like(ticket, pruned({{"w", dense.at_end.at("w")}, {"v", dense.at_end.at("v")}}, "magnitude:sparsity=0.6"));
  const SparseTraining again = train_sparse(ticket, keep_zeros);
  for (const char* name : {"w", "v", "b"}) CHECK(t.at_end.at(name) == again.at_end.at(name));
  CHECK(t.at_end.at("w") != dense.at_end.at("w"));
}

TEST_CASE("rate-rewind goes on with what was learned") {
  const Net net = sparse_network();
  const prune::Spec spec = spec_of("magnitude:sparsity=0.6;schedule=rate-rewind");
  const SparseTraining t = train_with(net, prune::schedule_parts(setting_of(net, spec)));
  const SparseTraining dense = train_sparse(net, [](train::Recipe&) {});
  const SparseTraining again = train_sparse(pruned(dense.at_end, "magnitude:sparsity=0.6"), keep_zeros);
  for (const char* name : {"w", "v", "b"}) CHECK(t.at_end.at(name) == again.at_end.at(name));
}

TEST_CASE("each round of lottery takes the same share of what is left, and goes back to its update") {
  const Net net = sparse_network();
  const prune::Spec spec = spec_of("magnitude:sparsity=0.875;schedule=lottery;iterations=3;rewind=50");
  prune::ScheduleSetting setting = setting_of(net, spec);
  std::vector<double> shares;
  setting.prune = [&, usual = setting.prune](const Model& now, const prune::Spec& part, const prune::Movements* m) {
    shares.push_back(*part.sparsity);
    CHECK(part.schedule.empty());
    return usual(now, part, m);
  };
  prune::ScheduleParts parts = prune::schedule_parts(setting);
  std::vector<Weights> at_50;
  std::vector<int64_t> begins;
  int64_t last = -1;
  parts.hooks.before = [&, usual = parts.hooks.before](int64_t done, const train::TrainingGraphs& graphs) {
    usual(done, graphs);
    if (done != last + 1) begins.push_back(done);
    last = done;
    if (done == 50) at_50.push_back(matrices(graphs));
  };
  train_with(net, parts);
  REQUIRE(shares.size() == 3);
  for (size_t i = 0; i < 3; ++i) CHECK(shares[i] == Approx(1 - std::pow(0.5, static_cast<double>(i + 1))));
  CHECK(begins == std::vector<int64_t>{50, 50, 50});
  REQUIRE(at_50.size() == 4);
  const int64_t gone[] = {0, 56, 84, 98};
  for (size_t round = 0; round < 4; ++round) {
    CHECK(zeros_of(at_50[round]) == gone[round]);
    for (const char* name : {"w", "v"})
      for (size_t i = 0; i < at_50[0].at(name).size(); ++i) {
        const double now = at_50[round].at(name)[i];
        CHECK((now == 0 || now == at_50[0].at(name)[i]));
      }
  }
}

TEST_CASE("movement is the sum of -w dL/dw, and what has moved least goes") {
  const Net net = sparse_network();
  const prune::Spec spec = spec_of("movement:sparsity=0.5;every=40");
  prune::ScheduleSetting setting = setting_of(net, spec);
  Weights sums = {{"w", std::vector<double>(96)}, {"v", std::vector<double>(16)}};
  int compared = 0;
  setting.prune = [&, usual = setting.prune](const Model& now, const prune::Spec& part, const prune::Movements* moved) {
    REQUIRE(moved);
    double least = 0, largest = 0;
    for (const auto& [name, all] : sums)
      for (const double x : all) least = std::min(least, x), largest = std::max(largest, x);
    REQUIRE(largest > least);
    for (const auto& [name, all] : sums)
      for (size_t i = 0; i < all.size(); ++i)
        CHECK(to_doubles(moved->at(name))[i] == Approx(all[i] - least).margin(1e-5 * (largest - least)));
    ++compared;
    const Model made = usual(now, part, moved);
    for (const auto& [name, all] : sums) {  // none that stays has moved less than one that goes now
      const std::vector<double> was = to_doubles(*now.graph->find(name)->constant);
      const std::vector<double> is = to_doubles(*made.graph->find(name)->constant);
      double goes = -INFINITY, stays = INFINITY;
      for (size_t i = 0; i < all.size(); ++i) {
        if (is[i] != 0) stays = std::min(stays, all[i]);
        if (is[i] == 0 && was[i] != 0) goes = std::max(goes, all[i]);
      }
      CHECK(goes <= stays + 1e-6);
    }
    return usual(now, part, moved);
  };
  prune::ScheduleParts parts = prune::schedule_parts(setting);
  Weights before;
  parts.hooks.before = [&, usual = parts.hooks.before](int64_t done, const train::TrainingGraphs& graphs) {
    for (const auto& [name, w] : before) {  // before the update that was made last
      const std::vector<double> slope = to_doubles(graphs.state->at(name + "/gradient"));
      for (size_t i = 0; i < w.size(); ++i) sums.at(name)[i] -= w[i] * slope[i];
    }
    usual(done, graphs);
    before = matrices(graphs);
  };
  const SparseTraining t = train_with(net, parts);
  CHECK(compared == 5);
  CHECK(zeros(t.at_end.at("w")) * 96 + zeros(t.at_end.at("v")) * 16 == 56);
}

TEST_CASE("a schedule says what does not go with it") {
  const auto refused = [](const std::string& text) { return thrown_by([&] { prune::check(spec_of(text)); }); };
  CHECK(refused("regularization:sparsity=0.5;schedule=gradual").code == Code::kUsage);
  CHECK(refused("apoz:granularity=channel;sparsity=0.5;schedule=gradual").code == Code::kUnsupported);
  CHECK(refused("magnitude:granularity=embedding;sparsity=0.5;schedule=gradual").code == Code::kUnsupported);
  CHECK(refused("magnitude:granularity=layer;sparsity=0.5;schedule=gradual").code == Code::kUsage);
  CHECK(refused("magnitude:granularity=channel;flops=0.5;round=auto;schedule=gradual").code == Code::kUsage);
  CHECK(refused("magnitude:granularity=2:4;sparsity=0.4;schedule=lottery").code == Code::kUsage);
  CHECK(refused("sparsegpt:sparsity=0.5;schedule=gradual").code == Code::kUnsupported);
  CHECK(refused("movement:sparsity=0.5;schedule=lottery").code == Code::kUnsupported);
  CHECK(refused("magnitude:sparsity=0.5;every=3").code == Code::kUsage);
  CHECK(refused("magnitude:sparsity=0.5;schedule=gradual;rewind=3").code == Code::kUsage);
  CHECK(refused("magnitude:sparsity=0.5;schedule=gradual;iterations=3").code == Code::kUsage);
  CHECK(refused("magnitude:sparsity=0.5;schedule=gradual;recover=lstsq").code == Code::kUsage);
  CHECK(thrown_by([&] {
          const Net net = sparse_network();
          prune::schedule_parts(setting_of(net, spec_of("magnitude:sparsity=0.5;schedule=lottery;rewind=400")));
        }).message.find("none of the 400") != std::string::npos);
  CHECK(thrown_by([&] {
          const Net net = sparse_network();
          const auto parts = prune::schedule_parts(setting_of(net, spec_of("magnitude:sparsity=0.5;schedule=gradual")));
          train_sparse(net, [&](train::Recipe& recipe) {
            recipe.constrain = parts.constrain;
            recipe.choice.freeze = {"w"};
          });
        }).message.find("has to be trained") != std::string::npos);
}

}  // namespace mlopt::test
