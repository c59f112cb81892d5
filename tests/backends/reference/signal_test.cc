#include <cmath>
#include <complex>
#include <numbers>

#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::test {
namespace {

using Signal = std::vector<std::complex<double>>;

/// The definition of the transform.
Signal plain_transform(const Signal& x, double sign) {
  const size_t n = x.size();
  Signal y(n);
  for (size_t k = 0; k < n; ++k)
    for (size_t j = 0; j < n; ++j)
      y[k] +=
          x[j] * std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n));
  return y;
}

Signal random_signal(size_t n, uint64_t seed) {
  const auto count = static_cast<int64_t>(n);
  const std::vector<double> v = to_doubles(uniform({count, 2}, -1, 1, DType::kF64, seed));
  Signal x(n);
  for (size_t i = 0; i < n; ++i) x[i] = {v[2 * i], v[2 * i + 1]};
  return x;
}

/// [1, n, parts].
Tensor stored(const Signal& x, int64_t parts) {
  std::vector<double> values;
  for (const auto& v : x) {
    values.push_back(v.real());
    if (parts == 2) values.push_back(v.imag());
  }
  return tensor({1, static_cast<int64_t>(x.size()), parts}, values, DType::kF64);
}

}  // namespace

TEST_CASE("DFT transforms signals of any length") {
  for (const size_t n : {1, 2, 3, 8, 10, 17, 60, 37, 148}) {
    INFO("length " << n);
    Signal x = random_signal(n, n);
    require_close(run_op("DFT", {stored(x, 2)}, {.opset = 20}), stored(plain_transform(x, -1), 2), 1e-12);
    Signal back = plain_transform(x, 1);
    for (auto& v : back) v /= static_cast<double>(n);
    require_close(run_op("DFT", {stored(x, 2)}, {.attrs = {{"inverse", int64_t{1}, ""}}, .opset = 17}), stored(back, 2),
                  1e-12);
  }
}

TEST_CASE("DFT of real signals keeps half of the spectrum, and its inverse restores them") {
  for (const size_t n : {2, 5, 10, 16}) {
    INFO("length " << n);
    Signal x = random_signal(n, n);
    for (auto& v : x) v = v.real();
    Signal half = plain_transform(x, -1);
    half.resize(n / 2 + 1);
    const Attr onesided{"onesided", int64_t{1}, ""}, inverse{"inverse", int64_t{1}, ""};
    const Tensor length = Tensor::scalar<int64_t>(static_cast<int64_t>(n));
    require_close(run_op("DFT", {stored(x, 1)}, {.attrs = {onesided}, .opset = 20}), stored(half, 2), 1e-12);
    require_close(run_op("DFT", {stored(half, 2), length}, {.attrs = {onesided, inverse}, .opset = 20}), stored(x, 1),
                  1e-12);
  }
}

TEST_CASE("DFT pads or cuts the signal to the length asked for, along any axis") {
  const Signal x = random_signal(5, 3);
  for (const size_t n : {3, 8}) {
    Signal fitted = x;
    fitted.resize(n);
    const Signal want = plain_transform(fitted, -1);
    // The same signal in both columns of [5, 2 columns, 2 parts].
    std::vector<double> in, out;
    for (const auto& v : x) in.insert(in.end(), {v.real(), v.imag(), v.real(), v.imag()});
    for (const auto& v : want) out.insert(out.end(), {v.real(), v.imag(), v.real(), v.imag()});
    const Tensor y = run_op("DFT",
                            {tensor({5, 2, 2}, in, DType::kF64), Tensor::scalar<int64_t>(static_cast<int64_t>(n)),
                             Tensor::scalar<int64_t>(-3)},
                            {.opset = 20});
    require_close(y, tensor({static_cast<int64_t>(n), 2, 2}, out, DType::kF64), 1e-12);
  }
}

TEST_CASE("STFT transforms windowed frames") {
  const Signal x = random_signal(23, 5);
  const std::vector<double> window = {0.5, 1, 2, 1, 0.25, 3};
  std::vector<double> want;
  for (size_t start = 0; start + 6 <= 23; start += 4) {
    Signal frame(6);
    for (size_t i = 0; i < 6; ++i) frame[i] = x[start + i].real() * window[i];
    const Signal spectrum = plain_transform(frame, -1);
    for (size_t k = 0; k < 4; ++k) want.insert(want.end(), {spectrum[k].real(), spectrum[k].imag()});
  }
  const Tensor y = run_op("STFT", {stored(x, 1), Tensor::scalar<int64_t>(4), tensor({6}, window, DType::kF64)});
  require_close(y, tensor({1, 5, 4, 2}, want, DType::kF64), 1e-12);
}

TEST_CASE("transforms that make no sense are refused") {
  const Tensor x = tensor({1, 4, 1}, {1, 2, 3, 4});
  CHECK(error_of("DFT", {x, Tensor::scalar<int64_t>(0)}, {.opset = 20}).find("length 0") != std::string::npos);
  error_of("DFT", {x, Tensor::scalar<int64_t>(int64_t{1} << 60)}, {.opset = 20});
  error_of("DFT", {x, {}, Tensor::scalar<int64_t>(2)}, {.opset = 20});
  error_of("STFT", {x, Tensor::scalar<int64_t>(0)});
  error_of("STFT", {x, Tensor::scalar<int64_t>(1), {}, Tensor::scalar<int64_t>(5)});
}

}  // namespace mlopt::test
