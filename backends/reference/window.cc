#include <fmt/core.h>

#include <cmath>
#include <numbers>

#include "backends/reference/compute.h"
#include "backends/reference/kernels.h"

namespace mlopt::reference {
namespace {

constexpr int64_t kLongest = int64_t{1} << 24;

DType output_type(const Call& call) {
  const int64_t code = call.view.get_int("output_datatype", static_cast<int64_t>(DType::kF32));
  const auto type = static_cast<DType>(code);
  if (code <= 0 || code >= kDTypeCount || compute_type(type) == DType::kUndefined)
    fail(call, fmt::format("output_datatype {} is no numeric type", code));
  return type;
}

/// a0 - a1 cos(2 pi n / N) + a2 cos(4 pi n / N); N is the length, or one less for a symmetric window.
void cosine_window(Call& call, double a0, double a1, double a2) {
  const int64_t size = int_in(call, 0, 0);
  if (size < 0 || size > kLongest) fail(call, fmt::format("a window of {} elements", size));
  const int64_t period = call.view.get_int("periodic", 1) != 0 ? size : size - 1;
  Tensor out(DType::kF64, {size});
  double* y = out.mutable_data<double>();
  for (int64_t n = 0; n < size; ++n) {
    const double angle =
        2 * std::numbers::pi * static_cast<double>(n) / static_cast<double>(std::max<int64_t>(1, period));
    y[n] = a0 - a1 * std::cos(angle) + a2 * std::cos(2 * angle);
  }
  call.set(0, cast(out, output_type(call)));
}

void hann_op(Call& call) { cosine_window(call, 0.5, 0.5, 0); }
void hamming_op(Call& call) { cosine_window(call, 25.0 / 46, 21.0 / 46, 0); }
void blackman_op(Call& call) { cosine_window(call, 0.42, 0.5, 0.08); }

/// Spectrum bins at which the triangles begin, peak and end: equal steps on the mel scale.
std::vector<int64_t> mel_edges(const Call& call, int64_t bands, int64_t dft_length) {
  const double rate = number_in(call, 2, 0), low = number_in(call, 3, 0), high = number_in(call, 4, 0);
  if (!(rate > 0) || !(low >= 0) || !(high >= low))
    fail(call, fmt::format("sample rate {}, lower edge {} Hz, upper edge {} Hz", rate, low, high));
  const auto to_mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const auto to_hertz = [](double mel) { return 700 * (std::pow(10, mel / 2595) - 1); };
  const double step = (to_mel(high) - to_mel(low)) / static_cast<double>(bands + 2);
  const int64_t last_bin = dft_length / 2;
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bands + 2; ++i) {
    const double hertz = to_hertz(to_mel(low) + static_cast<double>(i) * step);
    const double bin = std::floor(static_cast<double>(dft_length + 1) * hertz / rate);
    if (!(bin <= static_cast<double>(last_bin))) fail(call, fmt::format("{} Hz is above half the sample rate", hertz));
    edges.push_back(static_cast<int64_t>(bin));
  }
  return edges;
}

void mel_weight_matrix_op(Call& call) {
  const int64_t bands = int_in(call, 0, 0), dft_length = int_in(call, 1, 0), bins = dft_length / 2 + 1;
  if (bands < 0 || bands > kLongest || dft_length < 1 || dft_length > kLongest || bands * bins > kLongest)
    fail(call, fmt::format("{} bands of a transform of length {}", bands, dft_length));
  const std::vector<int64_t> edges = mel_edges(call, bands, dft_length);
  Tensor out = Tensor::zeros(DType::kF64, {bins, bands});
  double* y = out.mutable_data<double>();
  for (int64_t i = 0; i < bands; ++i) {
    const int64_t *edge = edges.data() + i, left = edge[0], peak = edge[1], right = edge[2];
    y[peak * bands + i] = 1;
    for (int64_t j = left; j < peak; ++j)
      y[j * bands + i] = static_cast<double>(j - left) / static_cast<double>(peak - left);
    for (int64_t j = peak; j < right; ++j)
      y[j * bands + i] = static_cast<double>(right - j) / static_cast<double>(right - peak);
  }
  call.set(0, cast(out, output_type(call)));
}

constexpr Kernel kKernels[] = {
    {"", "HannWindow", hann_op},
    {"", "HammingWindow", hamming_op},
    {"", "BlackmanWindow", blackman_op},
    {"", "MelWeightMatrix", mel_weight_matrix_op},
};

}  // namespace

std::span<const Kernel> window_kernels() { return kKernels; }

}  // namespace mlopt::reference
