#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "core/tensor/tensor.h"

namespace mlopt::train {

/// Random changes of pictures that leave their class. What happens to a sample depends on the seed, the epoch and the
/// sample alone, whatever batch it is in.
struct Augmentation {
  int64_t crop = 0;    ///< shift by up to so many pixels along each axis, the rest being 0
  bool flip = false;   ///< left to right, every other time
  int64_t cutout = 0;  ///< a square of this side set to 0 (DeVries and Taylor 2017)
  double mixup = 0;    ///< samples and labels are then mixed by shares from Beta(mixup, mixup), see mixup.h; 0: not

  bool changes_pictures() const { return crop > 0 || flip || cutout > 0; }
};

/// Reads "crop=4/flip/cutout=8/mixup=0.2"; throws Error{kUsage}.
Augmentation parse_augmentation(const std::string& text);

/// Shifts, flips and cuts float32 pictures [N, C, H, W], whose indices in the data are `samples`. Throws
/// Error{kBadInput} for other tensors.
Tensor augment(const Augmentation& how, const Tensor& pictures, std::span<const int64_t> samples, int64_t epoch,
               uint64_t seed);

}  // namespace mlopt::train
