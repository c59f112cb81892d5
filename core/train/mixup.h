#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/rng.h"
#include "core/tensor/tensor.h"

// mixup (Zhang et al. 2018): a network that sees x = s x1 + (1 - s) x2 learns s y1 + (1 - s) y2.

namespace mlopt::train {

/// A number from 0 to 1 of the distribution Beta(alpha, alpha), alpha > 0.
double draw_beta(double alpha, Rng& rng);

/// The share that each sample keeps of itself, from Beta(alpha, alpha). It depends on the seed, the epoch and the
/// sample alone.
std::vector<double> mixup_shares(double alpha, std::span<const int64_t> samples, int64_t epoch, uint64_t seed);

/// Of samples along the first axis, one more than there are shares, each but the last mixed with the one behind it.
/// Throws Error{kBadInput} for integers.
Tensor mix_with_next(const Tensor& samples, std::span<const double> shares);

}  // namespace mlopt::train
