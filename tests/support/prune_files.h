#pragma once
#include <string>
#include <vector>

#include "core/data/array_file.h"
#include "tests/support/op.h"
#include "tests/support/product_files.h"
#include "tests/support/program.h"

namespace mlopt::test {

/// A model to prune, and how.
struct PruneFiles : ProductFiles {
  /// 64 samples with labels.
  std::string labelled() const {
    const std::string path = folder / "l.npz";
    std::vector<int64_t> labels(64);
    for (size_t i = 0; i < 64; ++i) labels[i] = static_cast<int64_t>(i % 32);
    write_npz(path, {{"x", uniform({64, 32}, -1, 1)}, {"label", Tensor::ints(labels)}});
    return path;
  }
  Outcome prune(std::vector<std::string> options) const {
    options.insert(options.begin(), {"prune", model, "-o", out, "--no-bench"});
    return run_mlopt(options);
  }
};

}  // namespace mlopt::test
