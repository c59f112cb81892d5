#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/tensor/cast.h"
#include "prune/depth/block_scores.h"
#include "prune/moments.h"

namespace mlopt::prune {
namespace {

/// The sum over rows of 1 - cos(y - f, y), and how many rows there were.
std::pair<double, int64_t> turned(const std::vector<double>& y, const std::vector<double>& f, size_t row) {
  double sum = 0;
  int64_t rows = 0;
  for (size_t first = 0; first + row <= y.size(); first += row, ++rows) {
    double product = 0, before = 0, after = 0;
    for (size_t i = first; i < first + row; ++i) {
      const double x = y[i] - f[i];
      product += x * y[i];
      before += x * x;
      after += y[i] * y[i];
    }
    const double both = std::sqrt(before) * std::sqrt(after);
    sum += both > 0 ? 1 - product / both : 1;
  }
  return {sum, rows};
}

/// Tokens are vectors along the last axis; of pictures, and of whatever else, a sample is one.
size_t row_of(const Tensor& t) {
  if (t.rank() < 2 || t.size() == 0) return static_cast<size_t>(std::max<int64_t>(1, t.size()));
  return static_cast<size_t>(t.rank() == 3 ? t.dim(2) : t.size() / std::max<int64_t>(1, t.dim(0)));
}

}  // namespace

BlockScores block_influence(const Model& model, const std::vector<Block>& blocks, const Means& means) {
  if (!means.data || !means.runner)
    usage_error("influence needs data: it looks at what blocks make of what they are given", "--data",
                "give --data with inputs of the kind that the model will see, or use --method magnitude");
  std::vector<std::string> names;  // f(x) and y of each block; x may be an input, and is y - f(x)
  std::map<std::string, size_t> numbers;
  std::vector<std::pair<size_t, size_t>> at;
  const auto number = [&](const Value* v) {
    const auto [it, fresh] = numbers.try_emplace(v->name, names.size());
    if (fresh) names.push_back(v->name);
    return it->second;
  };
  for (const Block& block : blocks)
    at.emplace_back(number(block.join->input(block.branch)), number(block.join->output(0)));
  std::vector<std::vector<double>> now(names.size());
  std::vector<double> sums(blocks.size());
  std::vector<int64_t> rows(blocks.size());
  BlockScores found;
  found.samples = each_value(model, names, means, [&](size_t i, const Tensor& tensor) {
    now[i] = to_doubles(tensor);
    for (size_t b = 0; b < blocks.size(); ++b) {
      if (at[b].second != i || now[at[b].first].size() != now[i].size()) continue;
      const auto [sum, seen] = turned(now[i], now[at[b].first], row_of(tensor));
      sums[b] += sum;
      rows[b] += seen;
      now[at[b].first].clear();
    }
  });
  for (size_t b = 0; b < blocks.size(); ++b)
    found.scores.push_back(rows[b] > 0 ? sums[b] / static_cast<double>(rows[b]) : 1);
  return found;
}

}  // namespace mlopt::prune
