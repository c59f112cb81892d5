#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/data/dataset.h"
#include "core/exec/backend.h"
#include "core/tensor/compare.h"

namespace mlopt {

/// One output of two models on the same data.
struct OutputComparison {
  std::string name;
  std::optional<Difference> difference;  ///< of the second from the first; nothing when they cannot be subtracted
  std::string problem;                   ///< why not: other shapes, other kinds, texts that differ; else empty

  /// Equal bit for bit as far as numbers tell.
  bool equal() const { return problem.empty() && difference->max_abs == 0 && difference->same_nonfinite; }
};

struct RunComparison {
  std::vector<OutputComparison> outputs;  ///< in the first model's order
  int64_t samples = 0;
};

struct CompareOptions {
  int64_t samples = 64;  ///< at most
  int64_t batch = 8;     ///< run at once where the data can be stacked
  double seconds = 0;    ///< ends after the batch that passes it; 0: no limit
  std::function<void(int64_t done)> progress = {};
};

/// Bytes of the values of a run: with more, nothing is run on generated data where nobody asked for it.
constexpr int64_t kMostGeneratedValueBytes = int64_t{1} << 30;

/// Runs both plans on the data. The plans must have the same inputs in the same order and outputs of the same names in
/// any order (or as many of other names, which are then matched by place). Throws Error{kBadInput} listing both
/// otherwise.
RunComparison compare_runs(Executable& expected, Executable& actual, const Dataset& data,
                           const CompareOptions& options);

}  // namespace mlopt
