#pragma once
#include <algorithm>

#include "core/base/expected.h"
#include "core/exec/kernel.h"

namespace mlopt::cpu {

/// A float32 tensor [N, C, spatial...] seen as planes; a channels-last one as positions.
struct Planes {
  int64_t images = 1, channels = 1, size = 1;
  bool channels_last = false;

  int64_t count() const { return images * size; }  ///< elements of a channel
  /// The same memory where planes of one element are rows of channels.
  Planes as_rows() const { return size == 1 ? Planes{1, channels, images, true} : *this; }
};

/// Positions whose channels, side by side, are handled as one row, where a row of channels alone is too short for
/// vectors.
constexpr int64_t kWideRow = 64;
inline int64_t positions_together(int64_t channels) { return kWideRow / std::clamp<int64_t>(channels, 1, kWideRow); }

/// A number for each channel, repeated for the positions that are handled together.
class Repeated {
 public:
  Repeated(const float* numbers, int64_t channels) : numbers_(numbers) {
    const int64_t times = numbers ? positions_together(channels) : 1;
    if (times == 1) return;
    numbers_ = room_;
    for (int64_t i = 0; i < times; ++i) std::copy_n(numbers, channels, room_ + i * channels);
  }
  Repeated(const Repeated&) = delete;
  Repeated& operator=(const Repeated&) = delete;

  const float* data() const { return numbers_; }

 private:
  float room_[kWideRow];
  const float* numbers_;
};

/// Of input 0; declines where any input is not float32, or there are no channels.
Expected<Planes> planes_of(const Site& site);
/// Whether all `inputs` are there, and those from `first` on have an element for each channel.
bool are_by_channel(const Site& site, size_t inputs, int64_t channels, int first = 1);

/// What becomes of the elements of each channel: a (x - mean) + b.
struct Factors {
  const float *mean, *a, *b;
  bool by_image;  ///< one for each channel of each image, not one for each channel

  Factors of_image(const Planes& p, int64_t image) const {
    const int64_t at = by_image ? image * p.channels : 0;
    return {mean + at, a + at, b + at, by_image};
  }
};
void apply(const Planes& p, const Factors& factors, const float* x, float* y);

}  // namespace mlopt::cpu
