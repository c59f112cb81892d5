#include "prune/depth/block_scores.h"

#include <algorithm>
#include <cmath>

#include "core/base/rng.h"
#include "core/tensor/cast.h"
#include "prune/criteria.h"
#include "prune/slopes.h"

namespace mlopt::prune {
namespace {

/// The norm of all weights of a block: what stays small by itself changes little.
std::vector<double> norms(const std::vector<Block>& blocks, bool squared) {
  std::vector<double> scores;
  for (const Block& block : blocks) {
    double sum = 0;
    for (const Value* weight : block.weights)
      for (const double w : to_doubles(*weight->known_constant())) sum += squared ? w * w : std::abs(w);
    scores.push_back(squared ? std::sqrt(sum) : sum);
  }
  return scores;
}

/// The mean over samples of |the sum of w g| over all weights w of a block and their gradients g, or of the squares.
BlockScores slopes(const Model& model, const std::vector<Block>& blocks, bool squared, const Means& means) {
  std::vector<std::string> names;
  std::vector<size_t> owner;
  std::vector<std::vector<double>> numbers;
  for (size_t b = 0; b < blocks.size(); ++b)
    for (const Value* weight : blocks[b].weights) {
      if (weight->producer || !is_float(weight->constant->dtype())) continue;
      names.push_back(weight->name);
      owner.push_back(b);
      numbers.push_back(to_doubles(*weight->constant));
    }
  BlockScores found{std::vector<double>(blocks.size()), 0};
  std::vector<double> sums(blocks.size());
  const auto end_sample = [&] {
    for (size_t b = 0; b < sums.size(); ++b) found.scores[b] += std::abs(sums[b]);
    std::fill(sums.begin(), sums.end(), 0);
  };
  size_t last = 0;
  found.samples = each_slope(model, names, means, [&](size_t i, const Tensor& gradient) {
    if (i <= last) end_sample();  // weights are shown in order, sample after sample
    last = i;
    const std::vector<double> g = to_doubles(gradient);
    for (size_t k = 0; k < g.size(); ++k) {
      const double product = g[k] * numbers[i][k];
      sums[owner[i]] += squared ? product * product : product;
    }
  });
  end_sample();
  for (double& score : found.scores) score /= static_cast<double>(std::max<int64_t>(1, found.samples));
  return found;
}

}  // namespace

BlockScores score_blocks(const Model& model, const std::vector<Block>& blocks, const Spec& spec, const Means& means) {
  if (spec.method == kInfluence) return block_influence(model, blocks, means);
  if (spec.method == "taylor" || spec.method == "fisher") return slopes(model, blocks, spec.method == "fisher", means);
  if (spec.method != "random") return {norms(blocks, spec.norm == "l2"), 0};
  BlockScores found;
  Rng rng(spec.seed);
  for (size_t b = 0; b < blocks.size(); ++b) found.scores.push_back(rng.uniform());
  return found;
}

}  // namespace mlopt::prune
