// DeformConv over two spatial axes: columns of what its windows read between the pixels, and a product.
#include <algorithm>

#include "backends/gpu/conv.h"
#include "backends/gpu/device/geometry.h"
#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"
#include "backends/gpu/windows.h"

namespace mlopt::gpu {
namespace {

enum Input { kSource, kWeights, kOffsets, kBias, kMask };

constexpr int64_t kBytesAtOnce = int64_t{32} << 20;

struct Deformed {
  ConvArgs conv;
  int offset_groups, images;  ///< images at once
  bool tf32, bias, mask;
  size_t width;
  int64_t m, k, n;

  size_t bytes(int64_t elements) const { return static_cast<size_t>(elements) * width; }

  void operator()(const Buffers& b) const {
    const Geometry g(conv);
    const int64_t taps = int64_t{offset_groups} * g.taps * n;
    for (int first = 0; first < conv.batch; first += images)
      for (int group = 0; group < conv.groups; ++group) {
        const int count = std::min(images, conv.batch - first);
        launch(b, &Kernels::deformed_columns,
               DeformedColumnsArgs{conv, count, group, offset_groups,
                                   b.in<std::byte>(kSource) + bytes(int64_t{first} * conv.channels_in * g.plane),
                                   b.in<std::byte>(kOffsets) + bytes(first * 2 * taps),
                                   mask ? b.in<std::byte>(kMask) + bytes(first * taps) : nullptr, b.scratch});
        multiply(b, first, count, group);
      }
    if (!bias) return;
    launch(b, &Kernels::conv_end,
           ConvEndArgs{conv.type,
                       {},
                       Divider(conv.channels_out),
                       Divider(n),
                       int64_t{conv.batch} * conv.channels_out * n,
                       b.in<void>(kBias),
                       nullptr,
                       b.out<void>(0)});
  }

  void multiply(const Buffers& b, int first, int count, int group) const {
    ProductArgs product{};
    product.type = conv.type;
    product.tf32 = tf32;
    product.batch = count;
    product.m = m, product.k = k, product.n = n;
    product.b_stride = k * n;
    product.out_stride = conv.channels_out * n;
    product.alpha = 1;
    product.a = b.in<std::byte>(kWeights) + bytes(group * m * k);
    product.b = b.scratch;
    product.out = b.out<std::byte>(0) + bytes((int64_t{first} * conv.channels_out + group * m) * n);
    launch(b, &Kernels::product, product);
  }
};

/// The shape of the convolution without offsets; inputs lie as Conv's only up to the weights.
Expected<ConvShape> shape_of(const Site& site) {
  Site plain = site;
  plain.in.resize(2);
  return conv_shape(plain);
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc &x = site.desc(kSource), &w = site.desc(kWeights);
  const auto type = float_of(x.dtype);
  if (!type) return type.error();
  if (x.dims.size() != 4 || w.dims.size() != 4) return Decline{"other than two spatial axes"};
  const auto shape = shape_of(site);
  if (!shape) return shape.error();
  const Geometry g(shape->args);
  const int64_t groups = site.view.get_int("offset_group", 1);
  if (groups < 1 || x.dims[1] % groups != 0) return Decline{"the offset groups do not fit"};
  const Dims rest{shape->out.dims[2], shape->out.dims[3]};
  const auto fits = [&](int i, int64_t each, const Dims& behind) {
    Dims wanted{x.dims[0], groups * g.taps * each};
    wanted.insert(wanted.end(), behind.begin(), behind.end());
    return site.desc(i).dtype == x.dtype && site.desc(i).dims == wanted;
  };
  if (!fits(kOffsets, 2, rest) || (site.has(kMask) && !fits(kMask, 1, rest))) return Decline{"the offsets do not fit"};
  if (site.has(kBias) && site.desc(kBias).dims != Dims{w.dims[0]}) return Decline{"the bias does not fit"};
  const auto width = static_cast<size_t>(bits(x.dtype) / 8);
  const int64_t depth = int64_t{g.in_channels} * g.taps, each = depth * g.positions * static_cast<int64_t>(width);
  const auto images = static_cast<int>(std::clamp<int64_t>(kBytesAtOnce / each, 1, x.dims[0]));
  if (!is_countable({x.dtype, {images, depth, g.positions}})) return Decline{"more elements than kernels count"};
  PlannedStep step{.out = {shape->out}};
  step.scratch_bytes = static_cast<size_t>(images * each);
  step.run = Deformed{shape->args,     static_cast<int>(groups),
                      images,          site.context.precision == Precision::kTF32,
                      site.has(kBias), site.has(kMask),
                      width,           g.out_channels,
                      depth,           g.positions};
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "DeformConv", .plan = plan}};

}  // namespace

std::span<const Kernel> deform_conv_kernels() { return kKernels; }

}  // namespace mlopt::gpu
