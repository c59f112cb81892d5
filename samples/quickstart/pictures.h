#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "samples/quickstart/canvas.h"

namespace mlopt::quickstart {

/// Gray pictures of kSide x kSide pixels, one after the other, and the digit that each shows.
struct Pictures {
  std::vector<uint8_t> pixels, labels;

  int64_t count() const { return static_cast<int64_t>(labels.size()); }
};

/// Digits drawn with a pen of random width, turned, sheared, bent, blurred, on an uneven background with other strokes
/// and noise; every digit equally often. Picture i depends on `seed` and i alone, so that sets of other seeds share no
/// picture.
Pictures draw_pictures(int64_t count, uint64_t seed);

/// FOLDER/NAME-images.idx and FOLDER/NAME-labels.idx in MNIST's format.
void write_idx(const Pictures& pictures, const std::string& folder, const std::string& name);

}  // namespace mlopt::quickstart
