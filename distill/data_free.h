#pragma once
#include <cstdint>
#include <functional>
#include <memory>

#include "core/data/dataset.h"
#include "core/exec/backend.h"
#include "core/ir/infer.h"
#include "core/ir/model.h"

namespace mlopt::distill {

struct DataFreeSettings {
  int64_t samples = 0;  ///< to make
  int64_t batch = 64;   ///< of them together
  int64_t steps = 200;  ///< updates of each batch
  double rate = 0.1;    ///< of Adam, at first
  uint64_t seed = 0;
  CompileOptions options = {};
  std::function<void(int64_t done)> progress = {};  ///< samples made
};

/// Samples without labels that a teacher takes for its own: noise that is trained, as weights are, until each
/// BatchNormalization finds the mean and the variance in it that it remembers of its data, and until the scores are
/// sure of one class each (Yin et al. 2020). Weaker than data. Throws Error{kBadInput} for a model that remembers
/// nothing, or takes other than one float tensor.
std::unique_ptr<Dataset> make_samples(const Model& teacher, Backend& backend, const DataFreeSettings& settings,
                                      TypeRule types);

}  // namespace mlopt::distill
