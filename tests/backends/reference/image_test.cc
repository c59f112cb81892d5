#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

Tensor bytes(const std::string& file) {
  return Tensor::of({static_cast<int64_t>(file.size())}, std::vector<uint8_t>(file.begin(), file.end()));
}

/// A BMP of 1 x 2 pixels, red above blue.
std::string bmp(const std::string& height, char depth) {
  const std::string pixel_end(depth == 24 ? 1 : 0, '\0');
  const auto row = [&](const char* bgr) { return std::string(bgr, depth == 24 ? 3 : 4) + pixel_end; };
  const std::string header =
      std::string("BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\1\0\0\0", 22) + height + std::string("\1\0", 2) + depth;
  const std::string rest(25, '\0');
  const std::string blue = row("\xff\0\0\0"), red = row("\0\0\xff\0");
  return header + rest + (height[0] == 2 ? blue + red : red + blue);
}

TEST_CASE("ImageDecoder reads BMP in both directions and PNM") {
  const Tensor column = tensor({2, 1, 3}, {255, 0, 0, 0, 0, 255}, DType::kU8);
  const std::string up("\2\0\0\0", 4), down("\xfe\xff\xff\xff", 4);
  const Attr bgr = attr("pixel_format", "BGR"), gray = attr("pixel_format", "Grayscale");
  check_cases({
      {"ImageDecoder", {bytes(bmp(up, 24))}, {}, {column}},
      {"ImageDecoder", {bytes(bmp(down, 24))}, {}, {column}},
      {"ImageDecoder", {bytes(bmp(up, 32))}, {}, {column}},
      {"ImageDecoder", {bytes("P6\n# made by hand\n1 2 255\n" + std::string("\xff\0\0\0\0\xff", 6))}, {}, {column}},
      {"ImageDecoder",
       {bytes("P6 1 2 255 " + std::string("\xff\0\0\0\0\xff", 6))},
       {{bgr}},
       {tensor({2, 1, 3}, {0, 0, 255, 255, 0, 0}, DType::kU8)}},
      {"ImageDecoder", {bytes("P5 2 1 255 AB")}, {{gray}}, {tensor({1, 2, 1}, {65, 66}, DType::kU8)}},
  });
  const std::string whole = bmp(up, 24);
  check_errors({
      {"ImageDecoder", {bytes(whole.substr(0, whole.size() - 1))}, {}, "cut off"},
      {"ImageDecoder", {bytes("BM")}, {}, "cut off"},
      {"ImageDecoder", {bytes("P6 1 2 255")}, {}, "cut off"},
      {"ImageDecoder", {bytes("P6 x")}, {}, "damaged"},
      {"ImageDecoder", {bytes("P6 99999999 99999999 255 ")}, {}, ""},
      {"ImageDecoder", {bytes("RIFF....WEBP")}, {}, "only"},
      {"ImageDecoder", {bytes("")}, {}, ""},
      {"ImageDecoder", {bytes("P5 1 1 255 A")}, {{attr("pixel_format", "CMYK")}}, "'CMYK'"},
  });
}

}  // namespace
}  // namespace mlopt::test
