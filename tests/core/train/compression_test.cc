#include "core/train/compression.h"

#include <cmath>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

std::vector<float> coded(const char* spec, std::span<const float> values, size_t* bytes = nullptr) {
  const train::Compression c = train::parse_compression(spec);
  std::vector<std::byte> code(c.kind->bytes(values.size(), c.share));
  c.kind->encode(values, c.share, code.data());
  std::vector<float> decoded(values.size());
  c.kind->add(code.data(), c.share, decoded);
  if (bytes) *bytes = code.size();
  return decoded;
}

}  // namespace

TEST_CASE("a compression is named, with its share") {
  CHECK(train::parse_compression("").kind == nullptr);
  CHECK(train::parse_compression("none").kind == nullptr);
  CHECK(train::parse_compression("topk").share == 0.01);
  CHECK(train::parse_compression("topk:5%").share == Approx(0.05));
  CHECK(train::parse_compression("topk:0.5").share == 0.5);
  for (const char* bad : {"topk:0", "topk:200%", "topk:x", "fp16:1%", "fp17"})
    CHECK(thrown_by([&] { train::parse_compression(bad); }).code == Code::kUsage);
  CHECK(says(thrown_by([] { train::parse_compression("bf61"); }), "bf16"));
}

TEST_CASE("halves are the nearest ones") {
  const std::vector<float> values = {1, -0.1F, 3.14159F, 1e-3F};
  const std::vector<float> fp16 = coded("fp16", values), bf16 = coded("bf16", values);
  for (size_t i = 0; i < values.size(); ++i) {
    CHECK(fp16[i] == Approx(values[i]).epsilon(std::pow(2, -11)));
    CHECK(bf16[i] == Approx(values[i]).epsilon(std::pow(2, -8)));
  }
  CHECK(fp16[2] != values[2]);
}

TEST_CASE("the largest numbers are sent as they are") {
  size_t bytes = 0;
  CHECK(coded("topk:40%", std::vector<float>{1, -5, 0, 4, -2}, &bytes) == std::vector<float>{0, -5, 0, 4, 0});
  CHECK(bytes == 16);
  CHECK(coded("topk:1%", std::vector<float>{0, 0, 0}) == std::vector<float>{0, 0, 0});
}

TEST_CASE("a bit for each number gives the means of both signs") {
  size_t bytes = 0;
  CHECK(coded("1bit", std::vector<float>{1, -4, 3, -2, 0.5F}, &bytes) == std::vector<float>{1.5F, -3, 1.5F, -3, 1.5F});
  CHECK(bytes == 9);
  // Blocks have means of their own.
  std::vector<float> two(600, 1);
  for (size_t i = 512; i < 600; ++i) two[i] = -7;
  CHECK(coded("1bit", two, &bytes) == two);
  CHECK(bytes == 16 + 75);
}

}  // namespace mlopt::test
