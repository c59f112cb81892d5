#include <fmt/core.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "backends/reference/kernels.h"
#include "backends/reference/ml_scores.h"
#include "backends/reference/ml_trees.h"
#include "core/base/parallel.h"

namespace mlopt::reference {
namespace {

constexpr std::string_view kDomain = "ai.onnx.ml";

enum class Aggregate { kAverage, kSum, kMin, kMax };

/// A forest read from the attributes when it is first needed.
class LazyForest {
 public:
  template <class Read>
  const Forest& get(const Read& read) {
    std::call_once(once_, [&] { forest_ = read(); });
    return forest_;
  }

 private:
  std::once_flag once_;
  Forest forest_;
};

/// The votes of all trees for one row, by target; a target without votes gets 0.
void aggregate_row(const Call& call, const Forest& forest, Aggregate how, std::span<const double> row,
                   std::span<double> out) {
  std::vector<bool> seen(out.size(), false);
  for (const int64_t root : forest.roots)
    for (const Vote& vote : forest.leaf(call, root, row).votes) {
      require(call, vote.target >= 0 && vote.target < static_cast<int64_t>(out.size()),
              "a leaf votes for a target that does not exist");
      const auto target = static_cast<size_t>(vote.target);
      double& sum = out[target];
      if (how == Aggregate::kMin)
        sum = seen[target] ? std::min(sum, vote.weight) : vote.weight;
      else if (how == Aggregate::kMax)
        sum = seen[target] ? std::max(sum, vote.weight) : vote.weight;
      else
        sum += vote.weight;
      seen[target] = true;
    }
  if (how == Aggregate::kAverage)
    for (double& sum : out) sum /= static_cast<double>(std::max<size_t>(1, forest.roots.size()));
}

Rows aggregate_rows(const Call& call, const Forest& forest, Aggregate how, int64_t targets,
                    const std::vector<double>& base) {
  const Rows x = feature_rows(call, 0);
  require(call, targets > 0, "there are no targets");
  require(call, base.empty() || base.size() == 1 || static_cast<int64_t>(base.size()) == targets,
          "base_values has the wrong length");
  Rows out = make_rows(x.count, targets);
  parallel_for(x.count, 1 + 1000 / static_cast<int64_t>(forest.roots.size() + 1), [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      aggregate_row(call, forest, how, x.row(n), out.row(n));
      for (size_t t = 0; t < base.size(); ++t) out.row(n)[t] += base[t];
    }
  });
  return out;
}

void regress(Call& call, const Forest& forest) {
  const std::string how = call.view.get_string("aggregate_function", "SUM");
  constexpr std::pair<std::string_view, Aggregate> kNames[] = {
      {"SUM", Aggregate::kSum}, {"AVERAGE", Aggregate::kAverage}, {"MIN", Aggregate::kMin}, {"MAX", Aggregate::kMax}};
  const auto* known =
      std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& pair) { return pair.first == how; });
  if (known == std::end(kNames)) fail(call, fmt::format("aggregate_function '{}' is unknown", how));
  Rows out = aggregate_rows(call, forest, known->second, call.view.get_int("n_targets"),
                            numbers_or_tensor(call, "base_values"));
  transform_targets(out, post_transform_of(call));
  set_rows(call, 0, out);
}

void aggregate(Call& call, const Forest& forest) {
  const int64_t how = call.view.get_int("aggregate_function", 1), transform = call.view.get_int("post_transform", 0);
  require(call, how >= 0 && how <= 3, "aggregate_function is unknown");
  require(call, transform >= 0 && transform <= 4, "post_transform is unknown");
  Rows out = aggregate_rows(call, forest, static_cast<Aggregate>(how), call.view.get_int("n_targets"), {});
  transform_targets(out, static_cast<PostTransform>(transform));
  call.set(0, as(Tensor::of({out.count, out.width}, out.values), call.in(0).dtype()));
}

/// What the leaves of a classifier vote for.
struct Ballot {
  std::set<int64_t> classes;
  bool probabilities = true;  ///< no weight is negative
};

Ballot ballot_of(const Forest& forest) {
  Ballot ballot;
  for (const TreeNode& node : forest.nodes)
    for (const Vote& vote : node.votes) {
      ballot.classes.insert(vote.target);
      ballot.probabilities = ballot.probabilities && vote.weight >= 0;
    }
  return ballot;
}

/// Votes for one of at most two classes decide for the second one: above one half if they are probabilities, else above
/// 0.
Rows binary_scores(Rows sums, const Ballot& ballot, size_t labels, PostTransform transform,
                   std::vector<int64_t>& best) {
  const bool spread = labels == 2 && *ballot.classes.begin() == 0;
  Rows out = make_rows(sums.count, static_cast<int64_t>(labels));
  for (int64_t n = 0; n < sums.count; ++n) {
    const double score = sums.row(n)[0] + sums.row(n)[1];
    best.push_back(score > (ballot.probabilities ? 0.5 : 0));
    if (spread)
      spread_score(out.row(n), score, ballot.probabilities, transform);
    else if (labels == 2) {
      out.row(n)[1] = score;
      transform_scores(out.row(n), transform);
    } else {
      out.row(n)[0] = score;
      if (transform == PostTransform::kProbit) transform_scores(out.row(n), transform);
    }
  }
  return out;
}

void classify(Call& call, const Forest& forest) {
  const ClassLabels labels = class_labels(call, "classlabels_int64s", "classlabels_strings");
  require(call, labels.size() > 0, "there are no class labels");
  const std::vector<double> base = numbers_or_tensor(call, "base_values");
  const Ballot ballot = ballot_of(forest);
  const bool binary = labels.size() <= 2 && ballot.classes.size() == 1 && base.size() < 2;
  const auto targets = static_cast<int64_t>(binary ? 2 : labels.size());
  const bool counts_base = !binary || *ballot.classes.begin() == 0;
  Rows out = aggregate_rows(call, forest, Aggregate::kSum, targets, counts_base ? base : std::vector<double>{});
  const PostTransform transform = post_transform_of(call);
  std::vector<int64_t> best;
  if (binary) out = binary_scores(std::move(out), ballot, labels.size(), transform, best);
  for (int64_t n = 0; n < out.count && !binary; ++n) {
    best.push_back(best_class(out.row(n)));
    transform_scores(out.row(n), transform);
  }
  call.set(0, (labels.size() > 1 ? labels : ClassLabels{}).picked(call, best));
  set_rows(call, 1, out);
}

/// A step that keeps its forest between runs.
template <Forest (*read)(const Call&), void (*run)(Call&, const Forest&)>
Expected<Step> with_forest(const NodeView&, const CompileContext&) {
  return Step(
      [kept = std::make_shared<LazyForest>()](Call& call) { run(call, kept->get([&] { return read(call); })); });
}

Forest read_targets(const Call& call) { return read_numbered_forest(call, "target"); }
Forest read_classes(const Call& call) { return read_numbered_forest(call, "class"); }

constexpr Kernel kKernels[] = {
    {kDomain, "TreeEnsemble", nullptr, with_forest<read_indexed_forest, aggregate>},
    {kDomain, "TreeEnsembleRegressor", nullptr, with_forest<read_targets, regress>},
    {kDomain, "TreeEnsembleClassifier", nullptr, with_forest<read_classes, classify>},
};

}  // namespace

std::span<const Kernel> ml_tree_ensemble_kernels() { return kKernels; }

}  // namespace mlopt::reference
