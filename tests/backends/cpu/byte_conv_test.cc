#include "backends/cpu/byte_conv.h"

#include "core/base/rng.h"
#include "core/tensor/cast.h"
#include "tests/support/bytes.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/targets.h"

namespace mlopt::cpu {
namespace {

using Numbers = std::vector<int64_t>;

/// A convolution as ONNX has it: source [images, channels, d, h, w], weights [columns, channels / groups, taps].
struct Case {
  ByteShape shape;
  Tensor source, weights;
  std::vector<int32_t> zeros;
  int32_t zero;

  int64_t positions() const { return shape.axes[0].out * shape.axes[1].out * shape.axes[2].out; }
};

Tensor bytes(const Dims& dims, DType type, uint64_t seed) {
  return test::uniform(dims, type == DType::kI8 ? -128 : 0, type == DType::kI8 ? 127.9 : 255.9, type, seed);
}

ByteShape random_shape(Rng& rng) {
  ByteShape s;
  s.images = rng.integer(1, 2);
  const bool depthwise = rng.integer(0, 2) == 0;
  s.groups = depthwise ? rng.integer(2, 70) : rng.integer(0, 2) == 0 ? rng.integer(2, 3) : 1;
  s.channels = s.groups * (depthwise ? 1 : rng.integer(1, 20));
  s.columns = depthwise ? s.channels : s.groups * rng.integer(1, 40);
  for (size_t k = rng.integer(0, 3) == 0 ? 0 : 1; k < 3; ++k) {
    ByteShape::Axis& a = s.axes[k];
    a = {rng.integer(1, 12), 0, rng.integer(1, 3), rng.integer(1, 3), rng.integer(1, 2), rng.integer(0, 2)};
    const int64_t room = a.in + a.begin + rng.integer(0, 2) - (a.taps - 1) * a.dilation - 1;
    if (room < 0) a.taps = 1;
    a.out = std::max<int64_t>(room, 0) / a.stride + 1;
  }
  return s;
}

Case random_case(uint64_t seed) {
  Rng rng(seed);
  Case c;
  c.shape = rng.integer(0, 3) == 0 ? ByteShape::product(rng.integer(1, 30), rng.integer(1, 90), rng.integer(1, 70))
                                   : random_shape(rng);
  const ByteShape& s = c.shape;
  const auto type = [&] { return rng.integer(0, 1) == 0 ? DType::kU8 : DType::kI8; };
  c.source = bytes({s.images, s.channels, s.axes[0].in * s.axes[1].in * s.axes[2].in}, type(), seed + 1);
  c.weights = bytes({s.columns, s.group_channels(), s.taps()}, type(), seed + 2);
  if (rng.integer(0, 1) == 0) {  // products of two fit in 16 bits, or nearly all
    const int64_t most = rng.integer(30, 80);
    c.weights =
        test::uniform(c.weights.dims(), static_cast<double>(-most), static_cast<double>(most), DType::kI8, seed + 2);
  }
  c.zero = static_cast<int32_t>(rng.integer(0, 100));
  const int64_t zeros = rng.integer(0, 1) == 0 ? 1 : s.columns;
  for (int64_t i = 0; i < zeros; ++i)
    c.zeros.push_back(zeros == 1 && c.weights.dtype() == DType::kI8 ? 0 : static_cast<int32_t>(rng.integer(-100, 100)));
  return c;
}

/// [images, columns, positions].
Numbers expected(const Case& c) {
  const ByteShape& s = c.shape;
  const ByteShape::Axis &d = s.axes[0], &h = s.axes[1], &w = s.axes[2];
  const Numbers x = to_ints(c.source), weights = to_ints(c.weights);
  Numbers sums(static_cast<size_t>(s.images * s.columns * c.positions()), 0);
  const auto term = [&](int64_t image, int64_t column, int64_t position, int64_t channel, int64_t tap) -> int64_t {
    const auto place = [&](const ByteShape::Axis& a, int64_t o, int64_t t) {
      return o * a.stride - a.begin + t * a.dilation;
    };
    const int64_t z = place(d, position / (h.out * w.out), tap / (h.taps * w.taps));
    const int64_t y = place(h, position / w.out % h.out, tap / w.taps % h.taps);
    const int64_t v = place(w, position % w.out, tap % w.taps);
    if (z < 0 || z >= d.in || y < 0 || y >= h.in || v < 0 || v >= w.in) return 0;
    const int64_t from = column / s.group_columns() * s.group_channels() + channel;
    const auto at = static_cast<size_t>((((image * s.channels + from) * d.in + z) * h.in + y) * w.in + v);
    const auto k = static_cast<size_t>((column * s.group_channels() + channel) * s.taps() + tap);
    const int32_t zero = c.zeros[c.zeros.size() == 1 ? 0 : static_cast<size_t>(column)];
    return (x[at] - c.zero) * (weights[k] - zero);
  };
  for (int64_t image = 0; image < s.images; ++image)
    for (int64_t column = 0; column < s.columns; ++column)
      for (int64_t position = 0; position < c.positions(); ++position)
        for (int64_t channel = 0; channel < s.group_channels(); ++channel)
          for (int64_t tap = 0; tap < s.taps(); ++tap)
            sums[static_cast<size_t>((image * s.columns + column) * c.positions() + position)] +=
                term(image, column, position, channel, tap);
  return sums;
}

/// [n, rows, columns] -> [n, columns, rows].
template <class T>
std::vector<T> turned(const std::vector<T>& x, int64_t n, int64_t rows, int64_t columns) {
  std::vector<T> y(x.size());
  for (int64_t i = 0; i < n; ++i)
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        y[static_cast<size_t>((i * columns + c) * rows + r)] = x[static_cast<size_t>((i * rows + r) * columns + c)];
  return y;
}

Numbers computed(const Case& c, bool source_last, bool result_last, int threads) {
  const ByteShape& s = c.shape;
  const bool is_signed = c.source.dtype() == DType::kI8;
  const auto* raw = reinterpret_cast<const uint8_t*>(c.source.raw());
  std::vector<uint8_t> source(raw, raw + c.source.size());
  if (source_last) source = turned(source, s.images, s.channels, c.source.dim(2));
  const PackedTaps packed(s, c.weights, c.zeros, false);
  const ByteConv conv(s, {is_signed, source_last}, result_last, &packed, threads);
  Tensor scratch(DType::kU8, {static_cast<int64_t>(conv.scratch_bytes())});
  std::vector<int32_t> sums(static_cast<size_t>(s.images * s.columns * c.positions()));
  ByteFinish finish;
  finish.out = sums.data();
  conv.run({source.data(), is_signed}, c.zero, packed.view(), finish, scratch.mutable_raw());
  if (result_last) sums = turned(sums, s.images, c.positions(), s.columns);
  return {sums.begin(), sums.end()};
}

}  // namespace

TEST_CASE("sums of products of bytes are exact, whatever their layout, type and zero point") {
  for (const int64_t target : test::targets()) {
    const test::TargetScope scope(target);
    for (uint64_t seed = 1; seed <= 150; ++seed) {
      INFO("target " << target << " seed " << seed);
      const Case c = random_case(seed);
      const Numbers sums = expected(c);
      REQUIRE(computed(c, true, true, 1) == sums);
      REQUIRE(computed(c, false, true, 2) == sums);
      REQUIRE(computed(c, true, false, 3) == sums);
    }
  }
}

TEST_CASE("large products of bytes are exact on any number of threads") {
  for (const auto& [m, k, n] : {std::array<int64_t, 3>{1, 700, 900}, {7, 300, 257}, {500, 90, 33}, {40, 3000, 16}}) {
    Case c{ByteShape::product(m, k, n), bytes({1, k, m}, DType::kU8, 1), bytes({n, k, 1}, DType::kI8, 2), {0}, 128};
    const Numbers sums = expected(c);
    for (const int threads : {1, 2, 5}) REQUIRE(computed(c, true, true, threads) == sums);
  }
}

TEST_CASE("a matrix packed in a run gives what the same constant gives") {
  const int64_t m = 9, k = 31, n = 45;
  const ByteShape shape = ByteShape::product(m, k, n);
  const Tensor a = bytes({m, k}, DType::kU8, 1), b = bytes({k, n}, DType::kI8, 2);
  const PackedTaps constant(shape, b, {-7}, true);
  REQUIRE(constant.form() == ByteForm::kPairs);
  const ByteConv conv(shape, {}, true, nullptr, 2);
  Tensor scratch(DType::kU8, {static_cast<int64_t>(conv.scratch_bytes())});
  Tensor packed(DType::kU8, {static_cast<int64_t>(packed_matrix_bytes(shape))});
  pack_matrix(shape, bytes_of(b), -7, false, packed.mutable_raw());
  std::vector<int32_t> first(static_cast<size_t>(m * n)), second(first.size());
  ByteFinish finish;
  finish.out = first.data();
  conv.run(bytes_of(a), 100, {packed.raw()}, finish, scratch.mutable_raw());
  finish.out = second.data();
  conv.run(bytes_of(a), 100, constant.view(), finish, scratch.mutable_raw());
  CHECK(first == second);
}

TEST_CASE("taps that lie more than 2 GB apart are not for these tiles") {
  ByteShape s;
  s.channels = 64;
  s.axes[0] = {1000, 999, 2, 1, 1, 0};
  s.axes[1] = s.axes[2] = {100, 100, 1, 1, 1, 0};
  CHECK(ByteConv::fits(s));
  s.axes[1].in = s.axes[1].out = 3000;
  CHECK(!ByteConv::fits(s));
  s.axes[0] = {1000, 1000, 1, 1, 1, 0};
  CHECK(ByteConv::fits(s));
}

}  // namespace mlopt::cpu
