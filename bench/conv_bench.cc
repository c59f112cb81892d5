// Prints GFLOP/s (of a direct convolution's operations) of convolutions with a Relu by oneDNN, by tiles of ours, by
// Winograd's method (and which tile of it is chosen) and by our depthwise loops: conv_bench [THREADS].
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "backends/cpu/depthwise.h"
#include "backends/cpu/dnn.h"
#include "backends/cpu/winograd.h"
#include "bench/timing.h"
#include "core/base/parallel.h"

namespace {

using namespace mlopt;
using namespace mlopt::cpu;
using namespace mlopt::bench;

struct Shape {
  int64_t channels, channels_out, size;
};

constexpr Activation kRelu{Fn::kRelu};

ConvShape conv_of(const Shape& s, int64_t taps) {
  const Dims kernel(2, taps), ones(2, 1), pads(2, taps / 2);
  return {{1, s.channels, s.size, s.size},
          {s.channels_out, s.channels, taps, taps},
          {1, s.channels_out, s.size, s.size},
          1,
          {kernel, ones, ones, pads, pads}};
}

Desc channels_last(const Dims& d) { return Desc(d, Elem::f32, Dims{d[1] * d[2] * d[3], 1, d[1] * d[3], d[1]}); }

float* data_of(const Memory& memory) { return static_cast<float*>(memory.get_data_handle()); }

Run direct(const ConvShape& shape) {
  const ConvPd pd =
      describe_conv(shape, channels_last(shape.src), Elem::f32, Desc(), channels_last(shape.dst), new_attr());
  const Memory dst = filled(pd.dst_desc());
  const Run convolve = run_of<dnnl::convolution_forward>(
      pd, {{DNNL_ARG_SRC, filled(pd.src_desc())}, {DNNL_ARG_WEIGHTS, filled(pd.weights_desc())}, {DNNL_ARG_DST, dst}});
  return [=, count = element_count(shape.dst)] {
    convolve();
    apply(kRelu, data_of(dst), data_of(dst), count);
  };
}

Run winograd(const ConvShape& shape, int m, int threads) {
  const std::vector<float> w = numbers(element_count(shape.weights));
  const auto weights = std::make_shared<WinogradWeights>(w.data(), shape.dst[1], shape.src[1], m);
  const auto plan = std::make_shared<WinogradPlan>(shape, weights, threads);
  const Memory src = filled(channels_last(shape.src)), dst = filled(channels_last(shape.dst));
  return [=, space = workspace(plan->workspace_bytes())] {
    plan->run({.src = data_of(src), .dst = data_of(dst), .activation = kRelu}, space->mutable_raw());
  };
}

Run tiles(const ConvShape& shape, int threads) {
  const int64_t c = shape.src[1], k = shape.dst[1];
  const std::vector<float> w = numbers(c * k);
  const auto weights = std::make_shared<PackedMatrix>(MatrixView{w.data(), 1, c}, c, k);
  const auto plan = std::make_shared<ProductPlan>(ProductShape{shape.dst[2] * shape.dst[3], k, c}, weights, threads);
  const Memory src = filled(channels_last(shape.src)), dst = filled(channels_last(shape.dst));
  return [=, space = workspace(plan->workspace_bytes())] {
    plan->run({.a = {data_of(src), c, 1}, .c = data_of(dst), .c_stride = k, .activation = kRelu}, space->mutable_raw());
  };
}

struct Depthwise {
  int64_t channels, channels_out, size, taps, stride;
};

ConvShape conv_of(const Depthwise& s) {
  const Dims kernel(2, s.taps), ones(2, 1), strides(2, s.stride), pads(2, s.taps / 2);
  const int64_t out = (s.size + s.taps / 2 * 2 - s.taps) / s.stride + 1;
  return {{1, s.channels, s.size, s.size},
          {s.channels, s.channels_out / s.channels, 1, s.taps, s.taps},
          {1, s.channels_out, out, out},
          s.channels,
          {kernel, strides, ones, pads, pads}};
}

Run depthwise(const ConvShape& shape, int threads) {
  const std::vector<float> w = numbers(element_count(shape.weights));
  const auto weights = std::make_shared<std::vector<float>>(DepthwisePlan::packed(w.data(), shape));
  const auto plan = std::make_shared<DepthwisePlan>(shape, weights, threads);
  const Memory src = filled(channels_last(shape.src)), dst = filled(channels_last(shape.dst));
  return [=] { plan->run({.src = data_of(src), .dst = data_of(dst), .activation = kRelu}); };
}

void print_depthwise(const Depthwise& s, int threads) {
  const ConvShape shape = conv_of(s);
  const double flops = 2.0 * static_cast<double>(element_count(shape.dst) * s.taps * s.taps);
  fmt::print("{:5}{:5}{:5}{:5}{:7}", s.channels, s.channels_out, s.size, s.taps, s.stride);
  for (const double rate : rates_of({{direct(shape), flops}, {depthwise(shape, threads), flops}}, threads))
    fmt::print("{:10.1f}", rate);
  fmt::print("\n");
}

void print(const Shape& shape, const std::vector<Run>& runs, int64_t taps, int threads) {
  const double flops =
      2.0 * static_cast<double>(taps * taps * shape.channels * shape.channels_out * shape.size * shape.size);
  std::vector<Timed> timed;
  for (const Run& run : runs) timed.push_back({run, flops});
  fmt::print("{:5}{:5}{:5}", shape.channels, shape.channels_out, shape.size);
  for (const double rate : rates_of(timed, threads)) fmt::print("{:10.1f}", rate);
}

constexpr Shape kPoints[] = {
    {64, 64, 56},    {64, 256, 56},   {256, 64, 56},   {256, 128, 56}, {128, 512, 28}, {512, 128, 28}, {512, 256, 28},
    {256, 1024, 14}, {1024, 256, 14}, {1024, 512, 14}, {512, 2048, 7}, {2048, 512, 7}, {16, 96, 112},  {96, 24, 56},
    {24, 144, 56},   {144, 32, 28},   {32, 192, 28},   {384, 64, 14},  {96, 576, 14},  {960, 160, 7},  {58, 58, 28},
};

constexpr Shape kDeep[] = {
    {16, 16, 14},   {32, 32, 14},  {64, 64, 14},    {128, 128, 14}, {256, 256, 14}, {512, 512, 14},
    {16, 16, 28},   {32, 32, 28},  {64, 64, 28},    {64, 192, 28},  {128, 128, 28}, {256, 256, 28},
    {512, 512, 28}, {16, 16, 56},  {32, 32, 56},    {64, 64, 56},   {128, 128, 56}, {256, 256, 56},
    {16, 16, 112},  {64, 64, 112}, {128, 128, 112}, {256, 256, 7},  {512, 512, 7},
};

constexpr Depthwise kDepthwise[] = {
    {32, 32, 112, 3, 1},  {96, 96, 112, 3, 2}, {144, 144, 56, 3, 1}, {144, 144, 56, 3, 2}, {192, 192, 28, 3, 1},
    {384, 384, 14, 3, 1}, {960, 960, 7, 3, 1}, {240, 240, 28, 5, 1}, {672, 672, 14, 5, 2}, {960, 960, 7, 5, 1},
    {16, 16, 16, 3, 1},   {8, 8, 64, 3, 1},    {80, 80, 32, 3, 1},   {58, 58, 28, 3, 1},   {51, 51, 15, 3, 1},
    {328, 328, 4, 3, 1},  {64, 256, 56, 3, 1}, {198, 792, 28, 3, 1}, {96, 96, 56, 7, 1},   {16, 32, 56, 3, 2},
};

void measure(int threads) {
  fmt::print("1 x 1\n{:>5}{:>5}{:>5}{:>10}{:>10}\n", "c", "m", "size", "oneDNN", "tiles");
  for (const Shape& s : kPoints) {
    print(s, {direct(conv_of(s, 1)), tiles(conv_of(s, 1), threads)}, 1, threads);
    fmt::print("\n");
  }
  fmt::print("depthwise\n{:>5}{:>5}{:>5}{:>5}{:>7}{:>10}{:>10}\n", "c", "m", "size", "taps", "stride", "oneDNN",
             "ours");
  for (const Depthwise& s : kDepthwise) print_depthwise(s, threads);
  fmt::print("3 x 3\n{:>5}{:>5}{:>5}{:>10}{:>10}{:>10}{:>8}\n", "c", "m", "size", "oneDNN", "tile 2", "tile 4",
             "chosen");
  for (const Shape& s : kDeep) {
    const ConvShape shape = conv_of(s, 3);
    print(s, {direct(shape), winograd(shape, 2, threads), winograd(shape, 4, threads)}, 3, threads);
    fmt::print("{:8}\n", winograd_tile(shape, threads));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1;
  with_threads(threads, [&] { measure(threads); });
}
