#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "core/data/array_file.h"
#include "tests/support/models.h"
#include "tests/support/op.h"
#include "tests/support/program.h"

namespace mlopt::test {

/// Two layers on four numbers, and 96 samples whose class is that of the largest of the first three.
struct TrainSetup {
  TempDir folder;
  std::string model = write_text_model(folder, "m.onnx", kTwoLayers);
  std::string data = folder / "d.npz", out = folder / "out.onnx";

  explicit TrainSetup(int64_t wrong_label = -1) {
    const Tensor x = uniform({96, 4}, -1, 1);
    std::vector<int64_t> labels;
    const auto v = x.span<float>();
    for (size_t i = 0; i < 96; ++i) labels.push_back(std::max_element(&v[4 * i], &v[4 * i] + 3) - &v[4 * i]);
    if (wrong_label >= 0) labels[17] = wrong_label;
    write_npz(data, {{"x", x}, {"label", Tensor::ints(labels)}});
  }

  Outcome train(std::vector<std::string> more) const {
    std::vector<std::string> args = {"train", model, "-o", out, "--data", data, "--no-bench"};
    args.insert(args.end(), more.begin(), more.end());
    return run_mlopt(args);
  }
};

}  // namespace mlopt::test
