#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mlopt {

/// 8 bit pixels, row-major, the channels of a pixel together (RGB, or gray with one channel).
struct Picture {
  int64_t height = 0, width = 0, channels = 0;
  std::vector<uint8_t> pixels;

  Picture() = default;
  Picture(int64_t h, int64_t w, int64_t c) : height(h), width(w), channels(c), pixels(static_cast<size_t>(h * w * c)) {}
};

/// A JPEG or PNG file as RGB, with the pixels that Pillow's Image.open(f).convert("RGB") gives (libjpeg's accurate DCT
/// and smooth chroma upsampling; alpha dropped). Throws Error{kBadInput} with `where` for a damaged or unknown file and
/// for more than 178 million pixels.
Picture decode_picture(std::span<const std::byte> file, const std::string& where);
Picture decode_jpeg(std::span<const std::byte> file, const std::string& where);
Picture decode_png(std::span<const std::byte> file, const std::string& where);

/// Throws unless 0 < width * height is at most what decode_picture allows.
void check_picture_size(int64_t width, int64_t height, const std::string& where);

/// Luma of RGB as Pillow's convert("L") (ITU-R 601-2), one channel; a gray picture as it is.
Picture to_gray(const Picture& picture);

/// Bilinear with antialiasing: Pillow's resize(..., BILINEAR), bit for bit.
Picture resize_bilinear(const Picture& picture, int64_t height, int64_t width);

}  // namespace mlopt
