#include "core/data/picture.h"

#include <fmt/core.h>

#include <cstdlib>

#include "core/base/file.h"
#include "core/data/array_file.h"
#include "core/data/transform.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"
#include "tests/support/thrown.h"

namespace mlopt {
namespace {

std::string path_of(const std::string& name) { return (test::source_dir() / "tests/core/data/files" / name).string(); }

Picture decode(const std::string& name) {
  const std::string bytes = read_file(path_of(name));
  return decode_picture(std::as_bytes(std::span(bytes)), name);
}

/// What Pillow 13 (libjpeg-turbo) made of the same files: Image.open(f).convert("RGB"), and of color.png
/// resize((w, h), BILINEAR), convert("L"), and resize of the short side to 16 with a centre crop of 11 as in
/// torchvision.
const NamedTensors& expected() {
  static const NamedTensors arrays = read_npz(path_of("pictures.npz"));
  return arrays;
}

const Tensor& expected(const std::string& name) {
  for (const auto& [key, tensor] : expected()) {
    if (key == name) return tensor;
  }
  FAIL("no expected picture " << name);
  return expected()[0].second;
}

/// Largest difference of two pictures' bytes; 255 when the shapes differ.
int distance(const Picture& picture, const Tensor& tensor) {
  if (static_cast<int64_t>(picture.pixels.size()) != tensor.size() || picture.height != tensor.dim(0)) return 255;
  int most = 0;
  for (size_t i = 0; i < picture.pixels.size(); ++i) {
    most = std::max(most, std::abs(int{picture.pixels[i]} - int{tensor.data<uint8_t>()[i]}));
  }
  return most;
}

}  // namespace

TEST_CASE("pictures are decoded to Pillow's pixels") {
  for (const char* name : {"color.jpg", "progressive.jpg", "gray.jpg", "cmyk.jpg", "color.png", "alpha.png",
                           "palette.png", "gray.png", "bits.png"}) {
    INFO(name);
    const Picture picture = decode(name);
    CHECK(picture.channels == 3);
    CHECK(picture.width == 37);
    CHECK(distance(picture, expected(name)) == 0);
  }
}

TEST_CASE("resizing gives Pillow's pixels") {
  const Picture picture = decode("color.png");
  for (const auto& [height, width] : std::vector<std::pair<int, int>>{{9, 14}, {50, 61}, {23, 20}, {30, 37}, {1, 1}}) {
    INFO(height << "x" << width);
    CHECK(distance(resize_bilinear(picture, height, width), expected(fmt::format("resize_{}x{}", height, width))) == 0);
  }
  CHECK(resize_bilinear(picture, 23, 37).pixels == picture.pixels);
}

TEST_CASE("gray, the short side and the centre crop") {
  const Picture picture = decode("color.png");
  CHECK(distance(to_gray(picture), expected("luma")) == 0);
  Transforms transforms;
  transforms.resize = {16, 0};
  transforms.crop = 11;
  CHECK(distance(transform_picture(picture, transforms, "here"), expected("short16_crop11")) == 0);
  transforms.crop = 17;
  CHECK(test::says(test::thrown_by([&] { transform_picture(picture, transforms, "here"); }), "crop=17 is larger"));
}

TEST_CASE("every truncation and many flips of a picture end with an error or a picture") {
  for (const char* name : {"color.jpg", "progressive.jpg", "color.png", "palette.png"}) {
    const std::string bytes = read_file(path_of(name));
    const bool jpeg = std::string(name).find(".jpg") != std::string::npos;
    for (size_t size = 0; size + (jpeg ? 2 : 4) < bytes.size();
         ++size) {  // the end marker, or its checksum, may be missing
      INFO(name << " cut to " << size);
      const Error error =
          test::thrown_by([&] { decode_picture(std::as_bytes(std::span(bytes).first(size)), "sample 7"); });
      REQUIRE(error.code == Code::kBadInput);
      REQUIRE(test::says(error, "sample 7"));
    }
    int errors = 0;
    for (size_t bit = 0; bit < 8 * bytes.size(); bit += 3) {
      std::string changed = bytes;
      changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
      try {
        decode_picture(std::as_bytes(std::span(changed)), name);
      } catch (const Error& error) {
        REQUIRE(error.code == Code::kBadInput);
        ++errors;
      }
    }
    CHECK(errors > 0);
  }
}

TEST_CASE("what is no picture is refused by name") {
  CHECK(test::says(test::thrown_by([] { decode_picture({}, "a.jpg"); }), "the file is empty: a.jpg"));
  const std::string text = "hello, world";
  CHECK(test::says(test::thrown_by([&] { decode_picture(std::as_bytes(std::span(text)), "a.png"); }),
                   "neither a JPEG nor a PNG"));
  CHECK(test::says(test::thrown_by([] { check_picture_size(1 << 20, 1 << 20, "big"); }), "1048576 x 1048576"));
}

}  // namespace mlopt
