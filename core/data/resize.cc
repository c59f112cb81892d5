#include <algorithm>
#include <cmath>

#include "core/data/picture.h"

// Separable resampling with a triangle filter that is widened when shrinking, in fixed point, horizontally first; the
// widths, the rounding of the weights and of the sums are those of Pillow, so that the pixels are too.

namespace mlopt {
namespace {

constexpr int kPrecision = 22;  // bits after the point: 8 for the pixel, 2 for the sum, of 32

/// The inputs that make one output, and their weights.
struct Window {
  int64_t first = 0;
  std::vector<int32_t> weights;
};

std::vector<Window> windows(int64_t in, int64_t out) {
  const double scale = static_cast<double>(in) / static_cast<double>(out);
  const double widening = std::max(scale, 1.0);
  const double support = widening;  // the triangle reaches 1
  std::vector<Window> all(static_cast<size_t>(out));
  for (int64_t x = 0; x < out; ++x) {
    const double center = (static_cast<double>(x) + 0.5) * scale;
    const auto first = std::max<int64_t>(static_cast<int64_t>(std::floor(center - support + 0.5)), 0);
    const auto end = std::min<int64_t>(static_cast<int64_t>(std::floor(center + support + 0.5)), in);
    std::vector<double> weights;
    double sum = 0;
    for (int64_t i = first; i < end; ++i) {
      const double distance = std::abs((static_cast<double>(i) - center + 0.5) * (1.0 / widening));
      weights.push_back(std::max(1.0 - distance, 0.0));
      sum += weights.back();
    }
    Window& window = all[static_cast<size_t>(x)];
    window.first = first;
    for (const double w : weights) {
      const double share = sum != 0 ? w / sum : w;
      window.weights.push_back(static_cast<int32_t>(std::floor(0.5 + share * (1 << kPrecision))));
    }
  }
  return all;
}

uint8_t rounded(int32_t sum) { return static_cast<uint8_t>(std::clamp(sum >> kPrecision, 0, 255)); }

Picture across(const Picture& in, int64_t width) {
  const std::vector<Window> all = windows(in.width, width);
  Picture out(in.height, width, in.channels);
  const int64_t channels = in.channels;
  for (int64_t y = 0; y < in.height; ++y) {
    const uint8_t* row = in.pixels.data() + y * in.width * channels;
    uint8_t* to = out.pixels.data() + y * width * channels;
    for (const Window& window : all) {
      for (int64_t c = 0; c < channels; ++c) {
        const uint8_t* from = row + window.first * channels + c;
        int32_t sum = 1 << (kPrecision - 1);
        for (const int32_t weight : window.weights) {
          sum += weight * *from;
          from += channels;
        }
        *to++ = rounded(sum);
      }
    }
  }
  return out;
}

Picture down(const Picture& in, int64_t height) {
  const std::vector<Window> all = windows(in.height, height);
  Picture out(height, in.width, in.channels);
  const int64_t stride = in.width * in.channels;
  std::vector<int32_t> sums(static_cast<size_t>(stride));
  for (int64_t y = 0; y < height; ++y) {
    const Window& window = all[static_cast<size_t>(y)];
    std::fill(sums.begin(), sums.end(), 1 << (kPrecision - 1));
    const uint8_t* row = in.pixels.data() + window.first * stride;
    for (const int32_t weight : window.weights) {
      for (int64_t i = 0; i < stride; ++i) sums[static_cast<size_t>(i)] += weight * row[i];
      row += stride;
    }
    uint8_t* to = out.pixels.data() + y * stride;
    for (int64_t i = 0; i < stride; ++i) to[i] = rounded(sums[static_cast<size_t>(i)]);
  }
  return out;
}

}  // namespace

Picture resize_bilinear(const Picture& picture, int64_t height, int64_t width) {
  if (width == picture.width) return height == picture.height ? picture : down(picture, height);
  const Picture narrow = across(picture, width);
  return height == picture.height ? narrow : down(narrow, height);
}

}  // namespace mlopt
