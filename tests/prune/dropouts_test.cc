#include "prune/dropouts.h"

#include <algorithm>
#include <cmath>

#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/sparse_training.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

using Weights = std::map<std::string, std::vector<double>>;

const train::Schedule kSchedule{train::find_schedule("constant"), 0.01, SparseTraining::kSteps};

prune::Spec spec_of(const std::string& dropout, const std::string& granularity, double sparsity) {
  prune::Spec spec;
  spec.method = prune::kDropout;
  spec.dropout = dropout;
  spec.granularity = prune::parse_granularity(granularity);
  spec.sparsity = sparsity;
  return spec;
}

SparseTraining train_with(const prune::Spec& spec) {
  const Net net = sparse_network();
  return train_sparse(net, [&](train::Recipe& recipe) { add_dropout(recipe, net.model, spec, kSchedule); });
}

/// The least of each matrix, this share of it, as zeros.
Weights cut(Weights weights, double share) {
  for (const char* name : {"w", "v"}) {
    std::vector<double>& all = weights.at(name);
    std::vector<double> sizes;
    for (const double x : all) sizes.push_back(std::abs(x));
    std::sort(sizes.begin(), sizes.end());
    const double edge = sizes[static_cast<size_t>(std::llround(share * static_cast<double>(sizes.size())))];
    for (double& x : all) x = std::abs(x) < edge ? 0 : x;
  }
  return weights;
}

/// With as many updates: those of the least weights cut off before and after them, the better one.
double error_by_magnitude(double share) {
  const SparseTraining dense = train_sparse(sparse_network(), [](train::Recipe&) {});
  Net first = sparse_network();
  Weights weights;
  for (const char* name : {"w", "v"}) weights[name] = to_doubles(*first.graph().find(name)->constant);
  weights = cut(weights, share);
  for (const auto& [name, numbers] : weights) {
    Tensor& tensor = *first.graph().find(name)->constant;
    tensor = cast(Tensor::of<double>(tensor.dims(), numbers), DType::kF32);
  }
  const SparseTraining then = train_sparse(first, [](train::Recipe& recipe) { recipe.keep_zeros = true; });
  return std::min(error_with(cut(dense.at_end, share)), error_with(then.at_end));
}

}  // namespace

TEST_CASE("targeted dropout leaves a network that does without the least of its weights") {
  const SparseTraining t = train_with(spec_of("", "element", 0.7));
  const double share = (96 * zeros(t.at_end.at("w")) + 16 * zeros(t.at_end.at("v"))) / 112;
  CHECK(share == Approx(0.7).margin(0.02));
  for (const char* name : {"w", "v"})
    for (size_t i = 0; i < t.at_end.at(name).size(); ++i)
      CHECK((t.weights.at(name)[i] == 0) == (t.at_end.at(name)[i] == 0));
  CHECK(zeros(t.at_end.at("b")) == 0);
  CHECK(error_with(t.at_end) < 0.3 * error_by_magnitude(0.7));
}

TEST_CASE("targeted dropout of neurons takes all that belongs to them") {
  const SparseTraining t = train_with(spec_of("targeted", "channel", 0.75));
  const auto &w = t.at_end.at("w"), &b = t.at_end.at("b"), &v = t.at_end.at("v");
  int gone = 0;
  for (size_t c = 0; c < 16; ++c) {
    int there = (b[c] != 0) + (v[c] != 0);
    for (size_t i = 0; i < 6; ++i) there += w[16 * i + c] != 0;
    CHECK((there == 0 || there == 8));
    gone += there == 0;
  }
  CHECK(gone == 12);
  CHECK(error_with(t.at_end) < 0.1 * t.first);
}

TEST_CASE("targeted dropout takes what normalizes a neuron with it") {
  const Net net = normalized_network();
  const prune::Spec spec = spec_of("targeted", "channel", 0.75);
  const SparseTraining t =
      train_sparse(net, [&](train::Recipe& recipe) { add_dropout(recipe, net.model, spec, kSchedule); });
  for (const char* name : {"v", "b", "scale", "shift"}) CHECK(zeros(t.at_end.at(name)) == 0.75);
}

TEST_CASE("variational dropout finds the weights that can be noise") {
  const SparseTraining t = train_with(spec_of("variational", "element", 0.7));
  for (const char* name : {"w", "v"}) CHECK(zeros(t.at_end.at(name)) == Approx(0.7).margin(0.07));
  CHECK(error_with(t.at_end) < 0.3 * error_by_magnitude(0.7));
  // The last four of the six inputs mean nothing: what is left reads the first two.
  const std::vector<double> w = t.at_end.at("w"), read(w.begin(), w.begin() + 32), unread(w.begin() + 32, w.end());
  CHECK(1 - zeros(read) > 2 * (1 - zeros(unread)));
}

TEST_CASE("what a dropout draws follows from the seed") {
  const auto ends = [](uint64_t seed) {
    prune::Spec spec = spec_of("targeted", "element", 0.8);
    spec.seed = seed;
    return train_with(spec).at_end.at("w");
  };
  const std::vector<double> first = ends(1);
  CHECK(first == ends(1));
  CHECK(first != ends(2));
}

TEST_CASE("a dropout goes with a granularity") {
  const auto channel = prune::parse_granularity("channel");
  CHECK(prune::find_dropout("", channel).name == "targeted");
  CHECK(thrown_by([&] { prune::find_dropout("variational", channel); }).code == Code::kUsage);
}

}  // namespace mlopt::test
