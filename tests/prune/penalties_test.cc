#include "prune/penalties.h"

#include "tests/support/catch.h"
#include "tests/support/sparse_training.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

SparseTraining train_with(const prune::Spec& spec) {
  const Net net = sparse_network();
  return train_sparse(net, [&](train::Recipe& recipe) {
    recipe.constrain = [&](train::Constraint& at) {
      const prune::PenaltyPlan plan{*spec.sparsity, SparseTraining::kSteps};
      prune::find_penalty("", spec.granularity).add(at, net.model, spec, plan);
    };
  });
}

prune::Spec spec_of(const std::string& granularity, const std::string& allocation) {
  prune::Spec spec;
  spec.granularity = prune::parse_granularity(granularity);
  spec.sparsity = 0.5;
  spec.allocation = allocation;
  return spec;
}

}  // namespace

TEST_CASE("l1 pulls as many weights to zero as are asked for, and they stay there") {
  const SparseTraining global = train_with(spec_of("element", "global"));
  CHECK(global.last < 0.3 * global.first);
  const double share = (96 * zeros(global.at_end.at("w")) + 16 * zeros(global.at_end.at("v"))) / 112;
  CHECK(share == Approx(0.5).margin(0.06));
  for (const char* name : {"w", "v"})
    for (size_t i = 0; i < global.at_end.at(name).size(); ++i)
      CHECK((global.weights.at(name)[i] == 0) == (global.at_end.at(name)[i] == 0));
  CHECK(zeros(global.at_end.at("b")) == 0);  // biases are no weights
  const SparseTraining uniform = train_with(spec_of("element", "uniform"));
  for (const char* name : {"w", "v"}) CHECK(zeros(uniform.at_end.at(name)) == Approx(0.5).margin(0.1));
}

TEST_CASE("group LASSO pulls neurons to zero in all that belongs to them") {
  const SparseTraining t = train_with(spec_of("channel", "uniform"));
  CHECK(t.last < 0.3 * t.first);
  const auto &w = t.at_end.at("w"), &b = t.at_end.at("b"), &v = t.at_end.at("v");
  int gone = 0;
  for (size_t c = 0; c < 16; ++c) {
    int there = (b[c] != 0) + (v[c] != 0);
    for (size_t i = 0; i < 6; ++i) there += w[16 * i + c] != 0;
    CHECK((there == 0 || there == 8));
    gone += there == 0;
  }
  CHECK(gone >= 7);
  CHECK(gone <= 9);
}

TEST_CASE("a penalty goes with a granularity") {
  CHECK(prune::find_penalty("", prune::parse_granularity("channel")).name == "group-lasso");
  const Error error = thrown_by([] { prune::find_penalty("l1", prune::parse_granularity("channel")); });
  CHECK(error.code == Code::kUsage);
}

}  // namespace mlopt::test
