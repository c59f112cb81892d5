#include "core/data/picture.h"

#include <fmt/core.h>

#include <cstring>

#include "core/base/error.h"

namespace mlopt {
namespace {

constexpr int64_t kMaxPixels = 178'956'970;  // 0.5 GB as RGB: where Pillow suspects a decompression bomb

}  // namespace

void check_picture_size(int64_t width, int64_t height, const std::string& where) {
  if (width < 1 || height < 1 || width > kMaxPixels || height > kMaxPixels || width * height > kMaxPixels) {
    input_error(fmt::format("the picture claims {} x {} pixels", width, height), where,
                fmt::format("pictures of up to {} million pixels are read", kMaxPixels / 1'000'000));
  }
}

Picture decode_picture(std::span<const std::byte> file, const std::string& where) {
  const auto starts = [&](std::string_view magic) {
    return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
  };
  if (starts("\xff\xd8")) return decode_jpeg(file, where);
  if (starts("\x89PNG")) return decode_png(file, where);
  input_error(file.empty() ? "the file is empty" : "neither a JPEG nor a PNG file", where,
              "replace it or take it out of the data");
}

Picture to_gray(const Picture& picture) {
  if (picture.channels == 1) return picture;
  Picture gray(picture.height, picture.width, 1);
  for (size_t i = 0; i < gray.pixels.size(); ++i) {
    const uint8_t* rgb = &picture.pixels[3 * i];
    gray.pixels[i] = static_cast<uint8_t>((rgb[0] * 19595U + rgb[1] * 38470U + rgb[2] * 7471U + 0x8000U) >> 16);
  }
  return gray;
}

}  // namespace mlopt
