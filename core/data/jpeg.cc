#include <fmt/core.h>
#include <turbojpeg.h>

#include <memory>
#include <string_view>

#include "core/base/error.h"
#include "core/data/picture.h"

namespace mlopt {
namespace {

struct Destroy {
  void operator()(void* handle) const { tjDestroy(handle); }
};
using Decoder = std::unique_ptr<void, Destroy>;

/// libjpeg goes on after most damage with a warning; only bytes before a marker are harmless.
bool harmless(void* decoder) {
  return tjGetErrorCode(decoder) == TJERR_WARNING &&
         std::string_view(tjGetErrorStr2(decoder)).find("extraneous bytes") != std::string_view::npos;
}

[[noreturn]] void fail(void* decoder, const std::string& where) {
  input_error(fmt::format("the JPEG file is damaged ({})", tjGetErrorStr2(decoder)), where,
              "replace the file or take it out of the data");
}

/// Four channels as Pillow converts them to RGB: Adobe's files hold inverted inks, so these are 255 - ink.
Picture from_inverted_cmyk(const Picture& cmyk) {
  Picture rgb(cmyk.height, cmyk.width, 3);
  for (size_t i = 0; 4 * i < cmyk.pixels.size(); ++i) {
    const unsigned black = cmyk.pixels[4 * i + 3];
    for (size_t c = 0; c < 3; ++c) {
      const unsigned ink = 255U - cmyk.pixels[4 * i + c];
      const unsigned product = ink * black + 128U;  // divided by 255, rounded
      const unsigned dark = ((product >> 8) + product) >> 8;
      rgb.pixels[3 * i + c] = static_cast<uint8_t>(black > dark ? black - dark : 0U);
    }
  }
  return rgb;
}

}  // namespace

Picture decode_jpeg(std::span<const std::byte> file, const std::string& where) {
  const Decoder decoder(tjInitDecompress());
  if (!decoder) internal_error("tjInitDecompress failed", where);
  const auto* bytes = reinterpret_cast<const unsigned char*>(file.data());
  int width = 0, height = 0, sampling = 0, colors = 0;
  if (tjDecompressHeader3(decoder.get(), bytes, file.size(), &width, &height, &sampling, &colors) != 0 &&
      !harmless(decoder.get())) {
    fail(decoder.get(), where);
  }
  check_picture_size(width, height, where);
  const bool four = colors == TJCS_CMYK || colors == TJCS_YCCK;
  Picture picture(height, width, four ? 4 : 3);
  const int flags = TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS;
  if (tjDecompress2(decoder.get(), bytes, file.size(), picture.pixels.data(), width, 0, height,
                    four ? TJPF_CMYK : TJPF_RGB, flags) != 0 &&
      !harmless(decoder.get())) {
    fail(decoder.get(), where);
  }
  return four ? from_inverted_cmyk(picture) : picture;
}

}  // namespace mlopt
