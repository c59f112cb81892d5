#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/ir/model.h"
#include "core/rewrite/pass.h"

namespace mlopt::graphopt {

/// A layer whose weight is the product of two now.
struct Factored {
  std::string node, op;
  int64_t rows = 0, columns = 0, rank = 0;
  double energy = 0;  ///< share of the sum of squares that is kept
};
struct LowRank {
  std::vector<Factored> layers;             ///< in schedule order
  std::map<std::string, std::string> left;  ///< node that could be factored -> why it was not
};

/// Products by constant matrices (MatMul, Gemm, Conv of 1x1 and one group) become two thinner ones, of the least rank
/// that keeps `energy` (0 to 1) of each matrix' sum of squares: the truncated singular value decomposition, which by
/// Eckart and Young loses least. Only where multiplications and bytes fall, and of nodes that --only and --skip leave.
LowRank factor_low_rank(Model& model, double energy, const PassContext& context);

}  // namespace mlopt::graphopt
