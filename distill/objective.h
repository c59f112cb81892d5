#pragma once
#include "distill/wiring.h"

namespace mlopt::distill {

/// How the terms of the wiring are computed.
struct ObjectiveSettings {
  const train::LossDef* hard = nullptr;  ///< of the labels; null: there are none
  double temperature = 4;
  uint64_t seed = 0;
  bool cached = false;  ///< what is followed are inputs of the graph, in the order of teachers and taps
};

/// The weighted sum of all terms: a loss for train::Recipe::objective. The teachers of the wiring are tapped.
train::LossGraph objective(train::LossArgs& args, const Wiring& wiring, const ObjectiveSettings& settings);

}  // namespace mlopt::distill
