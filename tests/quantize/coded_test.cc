#include "quantize/coded.h"

#include <cmath>
#include <limits>

#include "quantize/weight_format.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"

using namespace mlopt;
using quantize::Alphabet;
using quantize::Coded;
using quantize::Levels;
using quantize::Scheme;

namespace {

/// The code of the nearest value, found by trying all.
float distance_of_nearest(const Alphabet& a, float x) {
  float least = std::numeric_limits<float>::infinity();
  for (int code = 0; code <= a.most; ++code)
    least = std::min(least, std::fabs(a.value(static_cast<uint8_t>(code)) - x));
  return least;
}

}  // namespace

TEST_CASE("the nearest code is the nearest of all, for levels and tables") {
  const std::vector<float> table = {-1, -0.6f, -0.1f, 0, 0.05f, 0.3f, 0.55f, 1};
  const std::vector<Alphabet> alphabets = {{0.25f, 3, {}, 7}, {0.1f, 8, {}, 15}, {0.7f, 0, {}, 255}, {2, 0, table, 7}};
  const Tensor x = test::uniform({500}, -3, 3);
  for (const Alphabet& a : alphabets)
    for (const float v : x.span<float>()) {
      const uint8_t code = a.nearest(v);
      REQUIRE(code <= a.most);
      CHECK(std::fabs(a.value(code) - v) == Approx(distance_of_nearest(a, v)).margin(1e-6));
    }
}

TEST_CASE("many numbers get the codes that each gets alone") {
  const std::vector<float> eight = {-1, -0.6f, -0.1f, 0, 0.05f, 0.3f, 0.55f, 1}, ternary = {-1, 0, 1, 1};
  std::vector<float> thirty_two;
  for (int i = 0; i < 32; ++i) thirty_two.push_back(static_cast<float>(i) / 16 - 0.9375f);
  const Tensor random = test::uniform({100}, -3, 3);
  std::vector<float> x(random.span<float>().begin(), random.span<float>().end());
  for (const float edge : {-0.8f, 0.0f, -0.05f, 1.1f, 1e30f, -1e30f}) x.push_back(edge);
  x.push_back(std::numeric_limits<float>::infinity());
  x.insert(x.begin() + 3, std::nanf(""));
  for (const Alphabet& a :
       std::vector<Alphabet>{{0.1f, 8, {}, 15}, {2, 0, eight, 7}, {1, 0, ternary, 3}, {2, 0, thirty_two, 31}}) {
    std::vector<uint8_t> all(x.size()), each;
    a.nearest(x, all.data());
    for (const float v : x) each.push_back(a.nearest(v));
    CHECK(all == each);
    CHECK(*std::max_element(all.begin(), all.end()) == a.most);
  }
}

TEST_CASE("halves are rounded to even, and what is no number becomes zero") {
  const Alphabet a{1, 8, {}, 15};
  CHECK(a.value(a.nearest(0.5f)) == 0);
  CHECK(a.value(a.nearest(1.5f)) == 2);
  CHECK(a.value(a.nearest(-2.5f)) == -2);
  CHECK(a.value(a.nearest(std::nanf(""))) == 0);
  CHECK(a.nearest(std::numeric_limits<float>::infinity()) == 15);
  CHECK(a.nearest(-1e30f) == 0);
}

TEST_CASE("a group ends with its row, and a tensor may be one group") {
  Scheme scheme;
  scheme.group = 4;
  Coded by_group(scheme, 2, 10);
  CHECK(by_group.groups() == 3);
  CHECK(by_group.scale.size() == 6);
  CHECK(by_group.alphabet_at(1, 9) == 5);
  by_group.set_alphabet(5, {0.5f, 2, {}, 15});
  by_group.codes[19] = 5;
  CHECK(decode(by_group).at(1, 9) == 1.5f);
  CHECK(decode(by_group).at(0, 0) == 0);

  scheme.per_tensor = true;
  scheme.levels = Levels::kCodebook;
  Coded whole(scheme, 2, 10);
  REQUIRE(whole.codebook(0).size() == 16);
  whole.codebook(0)[3] = 7;
  whole.codes[11] = 3;
  CHECK(decode(whole).at(1, 1) == 7);
}

TEST_CASE("what a weight will take is known before it is coded") {
  for (const char* format : {"w4", "w4g32", "w3g7", "w1", "ternary", "nf4", "fp8e4m3", "codebook3g16", "codebook8v4"})
    for (const bool per_tensor : {false, true}) {
      INFO(format << ' ' << per_tensor);
      const Scheme scheme = quantize::scheme_of(*quantize::parse_weight_format(format), per_tensor, false);
      for (const int64_t columns : {1, 10, 33, 64})
        CHECK(packed_bytes(scheme, 5, columns) == packed_bytes(Coded(scheme, 5, columns)));
    }
}
