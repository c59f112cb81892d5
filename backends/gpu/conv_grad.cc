// mlopt.ConvGradWeight: by products of dy and the windows' columns, with all images in one sum, where these are of some
// size; else a block of threads for each number.
#include <algorithm>

#include "backends/gpu/conv.h"
#include "backends/gpu/conv_product.h"
#include "backends/gpu/device/geometry.h"
#include "backends/gpu/kernels.h"
#include "backends/gpu/windows.h"

namespace mlopt::gpu {
namespace {

Expected<ConvArgs> args_of(const Site& site, const Dims& shape) {
  const TensorDesc &x = site.desc(0), &grad = site.desc(1);
  const auto type = float_of(x.dtype);
  if (!type) return type.error();
  if (grad.dtype != x.dtype || x.dims.size() < 3 || x.dims.size() > 5 || shape.size() != x.dims.size())
    return Decline{"only 1 to 3 spatial axes"};
  const int64_t groups = site.view.get_int("group", 1);
  if (groups < 1 || shape[0] % groups != 0 || x.dims[1] != shape[1] * groups)
    return Decline{"channels and groups do not fit"};
  const auto window = window_over(site.view, spatial_of(x.dims), spatial_of(shape));
  if (!window) return window.error();
  const auto places = positions(*window, spatial_of(x.dims));
  if (!places) return places.error();
  Dims expected{x.dims[0], shape[0]};
  expected.insert(expected.end(), places->begin(), places->end());
  if (grad.dims != expected) return Decline{"dy does not fit"};
  if (!is_countable(x) || !is_countable(grad) || x.size() == 0)
    return Decline{"no elements, or more than kernels count"};
  ConvArgs args{};
  args.type = *type;
  args.batch = static_cast<int>(x.dims[0]);
  args.channels_in = static_cast<int>(x.dims[1]);
  args.channels_out = static_cast<int>(shape[0]);
  args.groups = static_cast<int>(groups);
  args.windows = windows_of(*window, x.dims, grad.dims);
  return args;
}

/// Of one product: the columns of some images, dy of a group with its images side by side, and sums that no type
/// rounds.
struct Room {
  size_t columns, grads, sums;
  size_t bytes() const { return columns + grads + sums; }
};

struct Products {
  ConvArgs conv;
  ConvColumns columns;  ///< of an image: m channels out, k numbers, n positions
  int width;
  bool tf32;
  Room room;

  int64_t numbers() const { return columns.m * columns.k; }  ///< of a group's weights

  void operator()(const Buffers& b) const {
    for (int group = 0; group < conv.groups; ++group) {
      for (int64_t first = 0; first < conv.batch; first += columns.images)
        multiply(b, first, std::min<int64_t>(columns.images, conv.batch - first), group);
      if (room.sums == 0) continue;
      const std::byte* sums = b.scratch + room.columns + room.grads;
      launch(b, &Kernels::cast,
             CastArgs{Elem::kF32, conv.type, sums, b.out<std::byte>(0) + group * numbers() * width, numbers()});
    }
  }

  void multiply(const Buffers& b, int64_t first, int64_t images, int group) const {
    const int64_t plane = Geometry(conv).plane;
    std::byte *scratch = b.scratch, *grads = scratch + room.columns;
    launch(b, &Kernels::columns,
           ColumnsArgs{conv, width, static_cast<int>(images), group,
                       b.in<std::byte>(0) + first * conv.channels_in * plane * width, scratch, true});
    const auto walk = walk_over<2>({columns.m, images, columns.n}, {Dims{columns.n, conv.channels_out * columns.n, 1},
                                                                    row_major_strides({columns.m, images, columns.n})});
    launch(b, &Kernels::copy,
           CopyArgs{width, *walk,
                    b.in<std::byte>(1) + (first * conv.channels_out + group * columns.m) * columns.n * width, grads});
    ProductArgs p{};
    p.type = conv.type;
    p.tf32 = tf32;
    p.wide_out = room.sums > 0;
    p.b_transposed = true;
    p.batch = 1;
    p.m = columns.m, p.n = columns.k, p.k = images * columns.n;
    p.alpha = 1;
    p.beta = first > 0 ? 1.0f : 0.0f;
    p.a = grads;
    p.b = scratch;
    p.out = room.sums > 0 ? grads + room.grads : b.out<std::byte>(0) + group * numbers() * width;
    launch(b, &Kernels::product, p);
  }
};

/// Nothing where the matrices would be too small, or the columns of one image too large.
std::optional<Products> products_of(const Site& site, const ConvArgs& args) {
  const int width = bits(site.desc(0).dtype) / 8;
  auto columns = conv_columns(args, width);
  if (!columns) return std::nullopt;
  constexpr int64_t kBytesAtOnce = int64_t{64} << 20;
  const int64_t each = columns->k * columns->n * width;
  columns->images = std::clamp<int64_t>(kBytesAtOnce / each, 1, args.batch);
  const auto rounded = [](int64_t bytes) { return device_aligned(static_cast<size_t>(bytes)); };
  const Room room{rounded(columns->images * each), rounded(columns->images * columns->m * columns->n * width),
                  width == 4 ? 0 : rounded(columns->m * columns->k * 4)};
  return Products{args, *columns, width, site.context.precision == Precision::kTF32, room};
}

Expected<PlannedStep> plan(const Site& site) {
  const auto shape = weight_grad_shape(site);
  if (!shape) return shape.error();
  return own_weight_grad(site, *shape);
}

constexpr Kernel kKernels[] = {{.domain = "mlopt", .op = "ConvGradWeight", .plan = plan}};

}  // namespace

Expected<ConvShape> weight_grad_shape(const Site& site) {
  const Dims shape = site.view.get_ints("shape");
  const auto args = args_of(site, shape);
  if (!args) return args.error();
  return ConvShape{*args, {site.desc(0).dtype, shape}};
}

PlannedStep own_weight_grad(const Site& site, const ConvShape& shape) {
  PlannedStep step{.out = {shape.out}};
  if (const auto products = products_of(site, shape.args)) {
    step.scratch_bytes = products->room.bytes();
    step.label = "columns, cublas";
    step.run = *products;
    return step;
  }
  step.run = [args = shape.args](const Buffers& b) {
    ConvGradArgs now{args, b.in<void>(1), b.out<void>(0)};
    now.conv.in = b.in<void>(0);
    launch(b, &Kernels::conv_grad, now);
  };
  return step;
}

std::span<const Kernel> conv_grad_kernels() { return kKernels; }

}  // namespace mlopt::gpu
