#include <fmt/core.h>

#include <cctype>

#include "backends/reference/compute.h"
#include "backends/reference/kernels.h"
#include "core/data/picture.h"

namespace mlopt::reference {
namespace {

using Bytes = std::span<const std::byte>;

uint8_t byte_at(Bytes file, size_t i) { return std::to_integer<uint8_t>(file[i]); }

uint32_t little_endian(Bytes file, size_t at, size_t count) {
  uint32_t value = 0;
  for (size_t i = count; i-- > 0;) value = value << 8U | byte_at(file, at + i);
  return value;
}

/// An uncompressed BMP file of 24 or 32 bits a pixel; rows stand bottom up unless the height is negative.
Picture decode_bmp(const Call& call, Bytes file) {
  constexpr size_t kHeader = 54;
  require(call, file.size() >= kHeader, "the BMP file is cut off");
  const auto width = static_cast<int32_t>(little_endian(file, 18, 4)),
             signed_height = static_cast<int32_t>(little_endian(file, 22, 4));
  const uint32_t depth = little_endian(file, 28, 2), compression = little_endian(file, 30, 4);
  if ((depth != 24 && depth != 32) || compression != 0)
    unsupported_error("ImageDecoder cannot read compressed or indexed BMP files", call.view.node().label());
  const int64_t height = std::abs(static_cast<int64_t>(signed_height));
  check_picture_size(width, height, call.view.node().label());
  const size_t stride = (static_cast<size_t>(width) * depth / 8 + 3) / 4 * 4, begin = little_endian(file, 10, 4);
  require(call, begin <= file.size() && stride * static_cast<size_t>(height) <= file.size() - begin,
          "the BMP file is cut off");
  Picture picture(height, width, 3);
  uint8_t* pixel = picture.pixels.data();
  for (int64_t y = 0; y < height; ++y) {
    size_t at = begin + static_cast<size_t>(signed_height > 0 ? height - 1 - y : y) * stride;
    for (int64_t x = 0; x < width; ++x, at += depth / 8)
      for (size_t c = 0; c < 3; ++c) *pixel++ = byte_at(file, at + 2 - c);
  }
  return picture;
}

/// The next number of a PNM header, behind white space and comments.
int64_t header_number(const Call& call, Bytes file, size_t& at) {
  const auto more = [&] { return at < file.size(); };
  while (more() && (std::isspace(byte_at(file, at)) || byte_at(file, at) == '#')) {
    if (byte_at(file, at) == '#')
      while (more() && byte_at(file, at) != '\n') ++at;
    else
      ++at;
  }
  int64_t value = 0;
  const size_t begin = at;
  for (; more() && std::isdigit(byte_at(file, at)) && value < (1 << 28); ++at)
    value = value * 10 + byte_at(file, at) - '0';
  require(call, at > begin, "the PNM file is damaged");
  return value;
}

/// A binary PGM (P5) or PPM (P6) file of 8 bits a sample.
Picture decode_pnm(const Call& call, Bytes file) {
  size_t at = 2;
  const int64_t width = header_number(call, file, at), height = header_number(call, file, at),
                most = header_number(call, file, at);
  if (most != 255) unsupported_error("ImageDecoder reads PNM files of 8 bits a sample only", call.view.node().label());
  check_picture_size(width, height, call.view.node().label());
  const int64_t samples = byte_at(file, 1) == '6' ? 3 : 1;
  ++at;  // the one white space behind the header
  Picture picture(height, width, 3);
  require(call, at <= file.size() && static_cast<size_t>(width * height * samples) <= file.size() - at,
          "the PNM file is cut off");
  for (int64_t i = 0; i < width * height * 3; ++i)
    picture.pixels[static_cast<size_t>(i)] = byte_at(file, at + static_cast<size_t>(samples == 3 ? i : i / 3));
  return picture;
}

Picture decode_any(const Call& call, Bytes file) {
  const auto begins = [&](std::string_view magic) {
    return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
  };
  if (begins("BM")) return decode_bmp(call, file);
  if (begins("P5") || begins("P6")) return decode_pnm(call, file);
  const std::string where = call.view.node().label();
  if (begins("RIFF") || begins("II*") || begins("MM") || begins(std::string_view("\0\0\0\x0CjP", 6)))
    unsupported_error("ImageDecoder reads JPEG, PNG, BMP and PNM files only", where);
  return decode_picture(file, where);
}

void image_decoder(Call& call) {
  const Tensor& file = call.in(0);
  if (file.dtype() != DType::kU8) wrong_type(call, file.dtype());
  const std::string format = call.view.get_string("pixel_format", "RGB");
  if (format != "RGB" && format != "BGR" && format != "Grayscale")
    fail(call, fmt::format("pixel_format '{}' is unknown", format));
  Picture picture = decode_any(call, file.raw_bytes());
  if (format == "Grayscale") picture = to_gray(picture);
  if (format == "BGR")
    for (size_t i = 0; i + 2 < picture.pixels.size(); i += 3) std::swap(picture.pixels[i], picture.pixels[i + 2]);
  call.set(0, Tensor::of({picture.height, picture.width, picture.channels}, picture.pixels));
}

constexpr Kernel kKernels[] = {
    {"", "ImageDecoder", image_decoder},
};

}  // namespace

std::span<const Kernel> image_kernels() { return kKernels; }

}  // namespace mlopt::reference
