#include <fmt/core.h>
#include <spng.h>

#include <memory>

#include "core/base/error.h"
#include "core/data/picture.h"

namespace mlopt {
namespace {

constexpr uint32_t kMaxSide = 1 << 20;
constexpr size_t kMaxChunk = size_t{64} << 20;

struct Free {
  void operator()(spng_ctx* context) const { spng_ctx_free(context); }
};

void check(int status, const std::string& where) {
  if (status == SPNG_OK) return;
  input_error(fmt::format("the PNG file is damaged ({})", spng_strerror(status)), where,
              "replace the file or take it out of the data");
}

}  // namespace

Picture decode_png(std::span<const std::byte> file, const std::string& where) {
  const std::unique_ptr<spng_ctx, Free> context(spng_ctx_new(0));
  if (!context) internal_error("spng_ctx_new failed", where);
  spng_set_image_limits(context.get(), kMaxSide, kMaxSide);
  spng_set_chunk_limits(context.get(), kMaxChunk, kMaxChunk);
  check(spng_set_png_buffer(context.get(), file.data(), file.size()), where);
  spng_ihdr header{};
  check(spng_get_ihdr(context.get(), &header), where);
  check_picture_size(header.width, header.height, where);
  size_t size = 0;
  check(spng_decoded_image_size(context.get(), SPNG_FMT_RGB8, &size), where);
  Picture picture(header.height, header.width, 3);
  if (size != picture.pixels.size()) internal_error("spng's size of a decoded picture", where);
  check(spng_decode_image(context.get(), picture.pixels.data(), size, SPNG_FMT_RGB8, 0), where);
  check(spng_decode_chunks(context.get()), where);  // up to the end: a file cut after the pixels is damaged too
  return picture;
}

}  // namespace mlopt
