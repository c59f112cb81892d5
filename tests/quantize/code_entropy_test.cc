#include "quantize/code_entropy.h"

#include <zlib.h>

#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/op.h"

using namespace mlopt;
using quantize::Coded;
using quantize::Levels;
using quantize::Scheme;

namespace {

Coded uniform(int bits, int64_t rows, int64_t columns) {
  Scheme scheme;
  scheme.bits = bits;
  Coded coded(scheme, rows, columns);
  std::fill(coded.zero.begin(), coded.zero.end(), uint8_t{2});
  return coded;
}

}  // namespace

TEST_CASE("codes that all occur alike take all of their bits") {
  Coded coded = uniform(4, 2, 800);
  for (size_t i = 0; i < coded.codes.size(); ++i) coded.codes[i] = static_cast<uint8_t>(i % 16);
  CHECK(quantize::entropy_coded_bytes(coded) == 1600 * 4 / 8 + 16 * 4 + 2 * 4);  // shares, scales
}

TEST_CASE("a code that is rare takes many bits, one that is frequent few") {
  Coded coded = uniform(3, 1, 8000);
  std::fill(coded.codes.begin(), coded.codes.end(), uint8_t{2});
  for (size_t i = 0; i < 1000; ++i) coded.codes[8 * i] = 5;
  const double bits = 1000 * std::log2(8.0) + 7000 * std::log2(8.0 / 7);
  CHECK(quantize::entropy_coded_bytes(coded) == static_cast<int64_t>(std::ceil(bits / 8)) + 2 * 4 + 4);
}

TEST_CASE("what stands for zero is one symbol, whatever its code is in a group") {
  Scheme scheme;
  scheme.levels = Levels::kCodebook;
  scheme.bits = 1;
  Coded coded(scheme, 2, 800);
  coded.table = {0, 1, -1, 0};
  for (int64_t c = 0; c < 800; ++c) coded.codes[static_cast<size_t>(800 + c)] = 1;
  CHECK(quantize::entropy_coded_bytes(coded) == 4 + 4 * 4);  // nothing but zeros: a symbol, and two codebooks
  coded.table = {0.5f, 1, -1, 0.5f};
  CHECK(quantize::entropy_coded_bytes(coded) == 1600 / 8 + 2 * 4 + 4 * 4);
}

TEST_CASE("zero points that differ are counted, and codes of several numbers once") {
  Coded coded = uniform(2, 4, 100);
  const int64_t alike = quantize::entropy_coded_bytes(coded);
  coded.zero = {0, 0, 0, 0};
  CHECK(quantize::entropy_coded_bytes(coded) == alike);
  Coded vectors = uniform(2, 4, 100);
  vectors.levels = Levels::kVectors;
  vectors.vector = 2;
  vectors.codes.resize(200);
  vectors.zero.clear();
  vectors.table.assign(8, 1);
  for (size_t i = 0; i < 200; ++i) vectors.codes[i] = static_cast<uint8_t>(i % 2);
  CHECK(quantize::entropy_coded_bytes(vectors) == 200 / 8 + 2 * 4 + 4 * 4 + 8 * 4);
}

TEST_CASE("no coder that knows only how often codes occur does better") {
  // zlib's Huffman codes without matches: a code takes whole bits, so at least the entropy
  Coded coded = uniform(3, 16, 4000);
  const Tensor x = test::uniform({16 * 4000}, 0, 1);
  for (size_t i = 0; i < coded.codes.size(); ++i)
    coded.codes[i] = static_cast<uint8_t>(7.99f * x.span<float>()[i] * x.span<float>()[i]);
  std::vector<uint8_t> packed(coded.codes.size());
  z_stream z{};
  REQUIRE(deflateInit2(&z, 9, Z_DEFLATED, -15, 9, Z_HUFFMAN_ONLY) == Z_OK);
  z.next_in = coded.codes.data();
  z.avail_in = static_cast<unsigned>(coded.codes.size());
  z.next_out = packed.data();
  z.avail_out = static_cast<unsigned>(packed.size());
  REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
  const auto huffman = static_cast<double>(z.total_out);
  deflateEnd(&z);
  const auto bytes = static_cast<double>(quantize::entropy_coded_bytes(coded));
  CHECK(bytes < huffman + 200);  // tables and scales
  CHECK(bytes > 0.9 * huffman);
}
