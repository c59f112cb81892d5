#include <fmt/core.h>

#include <cmath>

#include "backends/reference/compute.h"
#include "backends/reference/kernels.h"
#include "core/base/parallel.h"

namespace mlopt::reference {
namespace {

struct Geometry {
  int64_t channels, height, width, kernel_rows, kernel_columns, rows, columns;
  int64_t groups, offset_groups;
  std::vector<int64_t> strides, pads, dilations;
};

/// Between four pixels; what lies outside the picture is 0.
template <class T>
double bilinear(const T* plane, int64_t height, int64_t width, double y, double x) {
  if (!(y > -1 && y < static_cast<double>(height) && x > -1 && x < static_cast<double>(width))) return 0;
  const double top = std::floor(y), left = std::floor(x);
  double sum = 0;
  for (int k = 0; k < 4; ++k) {
    const auto row = static_cast<int64_t>(top) + k / 2, column = static_cast<int64_t>(left) + k % 2;
    if (row < 0 || row >= height || column < 0 || column >= width) continue;
    const double weight =
        (1 - std::abs(y - static_cast<double>(row))) * (1 - std::abs(x - static_cast<double>(column)));
    sum += weight * static_cast<double>(plane[row * width + column]);
  }
  return sum;
}

/// The sampled and masked inputs of one picture: [channels * kernel, rows * columns].
template <class T>
std::vector<double> sampled_columns(const Geometry& g, const T* picture, const T* offsets, const T* mask) {
  const int64_t kernel = g.kernel_rows * g.kernel_columns, places = g.rows * g.columns;
  std::vector<double> columns(static_cast<size_t>(element_count({g.channels * kernel, places})));
  parallel_for(g.channels * kernel, 1 + 4096 / (places + 1), [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t channel = item / kernel, k = item % kernel, group = channel / (g.channels / g.offset_groups);
      const T* dy = offsets + (group * kernel + k) * 2 * places;
      const T* factors = mask ? mask + (group * kernel + k) * places : nullptr;
      for (int64_t p = 0; p < places; ++p) {
        const int64_t y = p / g.columns * g.strides[0] - g.pads[0] + k / g.kernel_columns * g.dilations[0];
        const int64_t x = p % g.columns * g.strides[1] - g.pads[1] + k % g.kernel_columns * g.dilations[1];
        const double value = bilinear(picture + channel * g.height * g.width, g.height, g.width,
                                      static_cast<double>(y) + static_cast<double>(dy[p]),
                                      static_cast<double>(x) + static_cast<double>(dy[places + p]));
        columns[static_cast<size_t>(item * places + p)] = factors ? value * static_cast<double>(factors[p]) : value;
      }
    }
  });
  return columns;
}

/// Positions of the kernel along a spatial axis.
int64_t positions(const Call& call, const Geometry& g, size_t axis, int64_t in, int64_t taps) {
  constexpr int64_t kMost = int64_t{1} << 40;
  const int64_t stride = g.strides[axis], dilation = g.dilations[axis];
  const int64_t before = g.pads[axis], after = g.pads[axis + 2];
  require(call,
          stride > 0 && dilation > 0 && taps > 0 && stride < kMost && dilation < kMost / taps &&
              std::abs(before) < kMost && std::abs(after) < kMost,
          "strides, pads or dilations are impossible");
  const int64_t room = in + before + after - dilation * (taps - 1) - 1;
  require(call, room >= 0, "the kernel is larger than the padded picture");
  return room / stride + 1;
}

void check_operands(const Call& call, const Geometry& g) {
  const int64_t batch = call.in(0).dim(0), taps = g.offset_groups * g.kernel_rows * g.kernel_columns;
  if (call.in(2).dims() != Dims{batch, taps * 2, g.rows, g.columns})
    fail(call, fmt::format("the offsets have the shape {}", to_string(call.in(2).dims())));
  require(call, !call.has(4) || call.in(4).dims() == Dims{batch, taps, g.rows, g.columns},
          "the mask does not fit the offsets");
  require(call, !call.has(3) || call.in(3).dims() == Dims{call.in(1).dim(0)}, "the bias does not fit the weights");
}

Geometry geometry_of(const Call& call) {
  const Tensor &data = call.in(0), &weights = call.in(1);
  if (data.rank() != 4 || weights.rank() != 4)
    unsupported_error("DeformConv with other than two spatial axes cannot be run", call.view.node().label());
  const NodeView& view = call.view;
  Geometry g{data.dim(1),
             data.dim(2),
             data.dim(3),
             weights.dim(2),
             weights.dim(3),
             0,
             0,
             view.get_int("group", 1),
             view.get_int("offset_group", 1),
             view.get_ints("strides", {1, 1}),
             view.get_ints("pads", {0, 0, 0, 0}),
             view.get_ints("dilations", {1, 1})};
  require(call, g.strides.size() == 2 && g.pads.size() == 4 && g.dilations.size() == 2,
          "strides, pads or dilations have the wrong length");
  const std::vector<int64_t> kernel = view.get_ints("kernel_shape", {g.kernel_rows, g.kernel_columns});
  require(call, kernel == std::vector<int64_t>{g.kernel_rows, g.kernel_columns},
          "kernel_shape is not that of the weights");
  require(call,
          g.groups > 0 && g.offset_groups > 0 && g.channels % g.groups == 0 && g.channels % g.offset_groups == 0 &&
              weights.dim(0) % g.groups == 0 && weights.dim(1) * g.groups == g.channels,
          "the channels do not fit the groups");
  g.rows = positions(call, g, 0, g.height, g.kernel_rows);
  g.columns = positions(call, g, 1, g.width, g.kernel_columns);
  check_operands(call, g);
  return g;
}

void deform_conv(Call& call) {
  const Geometry g = geometry_of(call);
  const Tensor &data = call.in(0), &weights = call.in(1);
  const int64_t filters = weights.dim(0), places = g.rows * g.columns,
                taps = weights.dim(1) * g.kernel_rows * g.kernel_columns;
  const std::vector<double> bias =
      call.has(3) ? to_doubles(call.in(3)) : std::vector<double>(static_cast<size_t>(filters), 0);
  with_float(call, data.dtype(), [&](auto sample) {
    using T = decltype(sample);
    const auto wide = [&](int i) { return call.has(i) ? as(call.in(i), dtype_of<T>()) : Tensor(); };
    const Tensor values = wide(0), factors = wide(1), offsets = wide(2), mask = wide(4);
    Tensor out(dtype_of<T>(), {data.dim(0), filters, g.rows, g.columns});
    T* cells = out.mutable_data<T>();
    for (int64_t n = 0; n < data.dim(0); ++n) {
      const std::vector<double> columns =
          sampled_columns(g, values.data<T>() + n * g.channels * g.height * g.width,
                          offsets.data<T>() + n * offsets.size() / data.dim(0),
                          call.has(4) ? mask.data<T>() + n * mask.size() / data.dim(0) : nullptr);
      parallel_for(filters, 1, [&](int64_t begin, int64_t end) {
        std::vector<double> sums(static_cast<size_t>(places));
        for (int64_t f = begin; f < end; ++f) {
          std::fill(sums.begin(), sums.end(), bias[static_cast<size_t>(f)]);
          const double* first = columns.data() + f / (filters / g.groups) * taps * places;
          for (int64_t k = 0; k < taps; ++k)
            for (int64_t p = 0; p < places; ++p)
              sums[static_cast<size_t>(p)] +=
                  static_cast<double>(factors.data<T>()[f * taps + k]) * first[k * places + p];
          for (int64_t p = 0; p < places; ++p)
            cells[(n * filters + f) * places + p] = static_cast<T>(sums[static_cast<size_t>(p)]);
        }
      });
    }
    call.set(0, as(out, data.dtype()));
  });
}

constexpr Kernel kKernels[] = {
    {"", "DeformConv", deform_conv},
};

}  // namespace

std::span<const Kernel> deform_conv_kernels() { return kKernels; }

}  // namespace mlopt::reference
