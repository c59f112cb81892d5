#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

constexpr double kTolerance = 2e-5;  // both sum in float32, of up to 400 numbers below 1

Tensor number(int64_t n) { return Tensor::scalar<int64_t>(n); }

void require_dft(const Dims& dims, int64_t axis, bool inverse, bool onesided) {
  INFO("axis " << axis << " of " << to_string(dims) << (inverse ? " back" : "") << (onesided ? " one side" : ""));
  require_as_reference(
      "DFT", {uniform(dims, -1, 1), Datum(), number(axis)},
      {.attrs = {{"inverse", int64_t{inverse}, ""}, {"onesided", int64_t{onesided}, ""}}, .fixed = true}, kTolerance);
}

}  // namespace

TEST_CASE(
    "DFT of real and complex signals, along any axis, of lengths with all factors, and of more signals than lanes") {
  for (const int64_t length : {1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 35, 60, 64, 128, 400})
    for (const bool inverse : {false, true}) {
      require_dft({3, length, 7, 2}, 1, inverse, false);
      require_dft({2, 9, length, 2}, -2, inverse, false);
      require_dft({2, length, 17, 1}, -3, inverse, false);
      if (!inverse) require_dft({2, length, 5, 1}, 1, false, true);
    }
}

TEST_CASE("DFT of a part of a signal, of one that is too short, and of one half of a spectrum") {
  for (const int64_t length : {4, 10, 15, 32})
    for (const int64_t given : {3, 10, 40})
      for (const bool inverse : {false, true})
        require_as_reference("DFT", {uniform({2, given, 3, 2}, -1, 1), number(length), number(1)},
                             {.attrs = {{"inverse", int64_t{inverse}, ""}}, .fixed = true}, kTolerance);
  for (const int64_t half : {2, 5, 33}) require_dft({2, half, 3, 2}, 1, true, true);
}

TEST_CASE("the axis of older DFTs is an attribute") {
  require_as_reference("DFT", {uniform({2, 6, 10, 2}, -1, 1)}, {.attrs = {{"axis", int64_t{2}, ""}}, .opset = 17},
                       kTolerance);
}

TEST_CASE("spectra of real signals have no imaginary parts where there are none") {
  const Tensor x = tensor({1, 8, 1}, {1, 2, 3, 4, 4, 3, 2, 1});
  require_as_reference("DFT", {x, Datum(), number(1)}, {.fixed = true}, 1e-13);
}

TEST_CASE("STFT with and without a window, of one side and of both") {
  const Tensor x = uniform({2, 100, 1}, -1, 1), window = uniform({16}, 0, 1);
  for (const int64_t onesided : {0, 1})
    for (const int64_t step : {1, 7, 16}) {
      const OpOptions how = {.attrs = {{"onesided", onesided, ""}}, .fixed = true};
      require_as_reference("STFT", {x, number(step), window, number(16)}, how, kTolerance);
      require_as_reference("STFT", {x, number(step), Datum(), number(12)}, how, kTolerance);
      require_as_reference("STFT", {x, number(step), window}, how, kTolerance);
    }
  require_as_reference("STFT", {uniform({1, 50, 2}, -1, 1), number(5), window},
                       {.attrs = {{"onesided", int64_t{0}, ""}}, .fixed = true}, kTolerance);
}

TEST_CASE("lengths with a large prime factor are not for this kernel") {
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  const std::vector<Datum> inputs{uniform({1, 34, 2}, -1, 1)};
  const auto got = run_node("DFT", inputs, {.backend = cpu.get()});
  require_close(got[0].tensor(), run_node("DFT", inputs)[0].tensor(), 0);
}

}  // namespace mlopt::test
