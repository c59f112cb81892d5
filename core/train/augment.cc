#include "core/train/augment.h"

#include <fmt/core.h>

#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/base/text.h"

namespace mlopt::train {
namespace {

/// What happens to one picture.
struct Change {
  int64_t down = 0, right = 0;
  bool flip = false;
  int64_t top = 0, left = 0;  ///< of the square that is cut out
};

Change draw(const Augmentation& how, int64_t height, int64_t width, Rng& rng) {
  Change c;
  if (how.crop > 0) {
    c.down = rng.integer(-how.crop, how.crop);
    c.right = rng.integer(-how.crop, how.crop);
  }
  if (how.flip) c.flip = rng.integer(0, 1) == 1;
  if (how.cutout > 0) {  // its centre is anywhere, as in the paper
    c.top = rng.integer(0, height - 1) - how.cutout / 2;
    c.left = rng.integer(0, width - 1) - how.cutout / 2;
  }
  return c;
}

void apply(const Augmentation& how, const Change& c, const float* from, float* to, int64_t height, int64_t width) {
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x) {
      const int64_t source_y = y - c.down, moved = x - c.right, source_x = c.flip ? width - 1 - moved : moved;
      const bool cut = how.cutout > 0 && y >= c.top && y < c.top + how.cutout && x >= c.left && x < c.left + how.cutout;
      const bool outside = source_y < 0 || source_y >= height || source_x < 0 || source_x >= width;
      to[y * width + x] = cut || outside ? 0 : from[source_y * width + source_x];
    }
}

int64_t pixels(const std::string& part, std::string_view name) {
  const auto value = parse_int(std::string_view(part).substr(name.size() + 1));
  if (!value || *value < 1)
    usage_error(fmt::format("'{}' is no number of pixels", part), "--augment", "such as crop=4");
  return *value;
}

/// Alpha of Beta(alpha, alpha); beyond these limits all shares are 0 or 1, or all one half.
double concentration(const std::string& part, std::string_view name) {
  constexpr double kLeast = 1e-6, kMost = 1e6;
  const auto value = parse_double(std::string_view(part).substr(name.size() + 1));
  if (!value || !(*value >= kLeast && *value <= kMost))
    usage_error(fmt::format("'{}' needs a number above 0", part), "--augment",
                "such as mixup=0.2; the larger, the more even the shares");
  return *value;
}

}  // namespace

Augmentation parse_augmentation(const std::string& text) {
  Augmentation how;
  for (const std::string& part : split(text, '/')) {
    if (part == "flip")
      how.flip = true;
    else if (part.starts_with("crop="))
      how.crop = pixels(part, "crop");
    else if (part.starts_with("cutout="))
      how.cutout = pixels(part, "cutout");
    else if (part.starts_with("mixup="))
      how.mixup = concentration(part, "mixup");
    else
      usage_error(fmt::format("unknown augmentation '{}'", part), "--augment",
                  "crop=N, flip, cutout=N and mixup=ALPHA, joined by /");
  }
  return how;
}

Tensor augment(const Augmentation& how, const Tensor& pictures, std::span<const int64_t> samples, int64_t epoch,
               uint64_t seed) {
  if (pictures.rank() != 4 || pictures.dtype() != DType::kF32)
    input_error(
        fmt::format("{} {} are no float32 pictures [N, C, H, W]", name(pictures.dtype()), to_string(pictures.dims())),
        "--augment", "leave it out");
  const int64_t channels = pictures.dim(1), height = pictures.dim(2), width = pictures.dim(3), plane = height * width;
  Tensor changed(pictures.dtype(), pictures.dims());
  float* to = changed.mutable_data<float>();
  for (size_t i = 0; i < samples.size(); ++i) {
    Rng rng(seed_of({seed, static_cast<uint64_t>(epoch), static_cast<uint64_t>(samples[i])}));
    const Change change = draw(how, height, width, rng);
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t at = (static_cast<int64_t>(i) * channels + c) * plane;
      apply(how, change, pictures.data<float>() + at, to + at, height, width);
    }
  }
  return changed;
}

}  // namespace mlopt::train
