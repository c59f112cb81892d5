#include "samples/quickstart/pictures.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "core/base/file.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

using namespace mlopt;
using namespace mlopt::quickstart;

namespace {

std::set<std::string> distinct(const Pictures& pictures) {
  constexpr size_t kPixels = size_t{kSide} * kSide;
  std::set<std::string> all;
  for (size_t at = 0; at < pictures.pixels.size(); at += kPixels)
    all.emplace(pictures.pixels.begin() + static_cast<std::ptrdiff_t>(at),
                pictures.pixels.begin() + static_cast<std::ptrdiff_t>(at + kPixels));
  return all;
}

}  // namespace

TEST_CASE("A seed gives the same pictures, whatever their number", "[samples]") {
  const Pictures some = draw_pictures(50, 7), more = draw_pictures(200, 7);
  CHECK(std::equal(some.pixels.begin(), some.pixels.end(), more.pixels.begin()));
  CHECK(std::equal(some.labels.begin(), some.labels.end(), more.labels.begin()));
}

TEST_CASE("No picture occurs twice, in one set or in two", "[samples]") {
  std::set<std::string> all = distinct(draw_pictures(300, 1));
  CHECK(all.size() == 300);
  all.merge(distinct(draw_pictures(300, 2)));
  CHECK(all.size() == 600);
}

TEST_CASE("Every digit is drawn equally often", "[samples]") {
  std::array<int, 10> counts{};
  for (const uint8_t label : draw_pictures(100, 1).labels) ++counts.at(label);
  for (const int count : counts) CHECK(count == 10);
}

TEST_CASE("Pictures are written in MNIST's format", "[samples]") {
  const test::TempDir folder;
  const Pictures pictures = draw_pictures(20, 1);
  write_idx(pictures, folder.path().string(), "some");
  const std::string images = read_file(folder / "some-images.idx"), labels = read_file(folder / "some-labels.idx");
  using namespace std::string_literals;
  CHECK(images.substr(0, 16) == "\0\0\x08\x03\0\0\0\x14\0\0\0\x20\0\0\0\x20"s);
  CHECK(images.substr(16) == std::string(pictures.pixels.begin(), pictures.pixels.end()));
  CHECK(labels.substr(0, 8) == "\0\0\x08\x01\0\0\0\x14"s);
  CHECK(labels.substr(8) == std::string(pictures.labels.begin(), pictures.labels.end()));
}
