#pragma once
#include <vector>

#include "core/exec/plan.h"

namespace mlopt {

/// A batch that is run a few samples at a time, so that what is made of them stays in the cache.
struct Pieces {
  int64_t count = 1;            ///< of pieces, equally many samples in each
  std::vector<bool> batched{};  ///< inputs that hold the samples, along axis 0

  /// The shapes of a piece's inputs.
  std::vector<Dims> shapes(std::vector<Dims> whole) const;
};

/// How to run inputs of these shapes, to which those of `model` are bound in `bound`; these then have the shapes of a
/// piece. One piece where nothing is gained, or samples depend on one another.
Pieces choose_pieces(const Model& model, Model& bound, const std::vector<Dims>& shapes, int threads, TypeRule types);

/// As Plan::run() for all pieces, the plan being that of one.
std::vector<Datum> run_pieces(const Plan& plan, const Pieces& pieces, std::span<const Datum> inputs,
                              const RunContext& context);

}  // namespace mlopt
