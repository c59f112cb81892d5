// Convolutions of numbers by the library's products.
#include "backends/gpu/conv_product.h"

#include <algorithm>

#include "backends/gpu/device/geometry.h"
#include "core/base/align.h"

namespace mlopt::gpu {
namespace {

constexpr int64_t kMostBytes = int64_t{64} << 20, kBytesAtOnce = int64_t{32} << 20;
constexpr int kLeast = 16, kMostGroups = 8;

enum Input { kSource, kWeights, kBias, kAddend };

/// Are the images themselves columns: windows of one tap that follow one another?
bool are_columns(const Windows& w) {
  for (int k = 0; k < 3; ++k)
    if (w.kernel[k] != 1 || w.stride[k] != 1 || w.before[k] != 0 || w.in[k] != w.out[k]) return false;
  return true;
}

/// As many images as 32 MB hold the columns of; none where one takes too much.
bool fit_images(ConvColumns& made, int batch, int64_t each) {
  if (each > kMostBytes) return false;
  made.images = std::clamp<int64_t>(kBytesAtOnce / each, 1, batch);
  made.bytes = static_cast<size_t>(made.images * each);
  return true;
}

/// What runs after the products, or within them.
bool is_within(const Activation& act) { return act.fn == Fn::kNone || act.fn == Fn::kRelu || act.fn == Fn::kGeluTanh; }

/// Groups of images, one after the other. A transposed convolution goes the other way: columns = weights transposed *
/// x, folded into the output.
struct Run {
  ConvArgs conv;
  ConvColumns columns;
  ProductArgs product;  ///< `a_transposed`: of a transposed convolution
  int64_t plane;        ///< of the side that has windows: the input, or a transposed convolution's output
  int width;
  bool bias, addend, ends;

  void operator()(const Buffers& b) const {
    for (int64_t first = 0; first < conv.batch; first += columns.images)
      for (int group = 0; group < conv.groups; ++group) {
        const int64_t images = std::min<int64_t>(columns.images, conv.batch - first);
        product.a_transposed ? multiply_transposed(b, first, images, group) : multiply(b, first, images, group);
      }
    if (!ends) return;
    const int64_t places = product.a_transposed ? plane : columns.n;
    launch(b, &Kernels::conv_end,
           ConvEndArgs{conv.type, conv.act, Divider(conv.channels_out), Divider(places),
                       int64_t{conv.batch} * conv.channels_out * places, bias ? b.in<void>(kBias) : nullptr,
                       addend ? b.in<void>(kAddend) : nullptr, b.out<void>(0)});
  }

  void multiply(const Buffers& b, int64_t first, int64_t images, int group) const {
    const int64_t channels = conv.channels_in / conv.groups;
    const std::byte* in = b.in<std::byte>(kSource) + first * conv.channels_in * plane * width;
    ProductArgs now = of_group(b, images, group);
    now.b = in + group * channels * plane * width;
    now.out = b.out<std::byte>(0) + (first * conv.channels_out + group * columns.m) * columns.n * width;
    if (columns.bytes > 0) {
      launch(b, &Kernels::columns, ColumnsArgs{conv, width, static_cast<int>(images), group, in, b.scratch});
      now.b = b.scratch;
    }
    launch(b, &Kernels::product, now);
  }

  void multiply_transposed(const Buffers& b, int64_t first, int64_t images, int group) const {
    std::byte* out = b.out<std::byte>(0) + first * conv.channels_out * plane * width;
    ProductArgs now = of_group(b, images, group);
    now.b = b.in<std::byte>(kSource) + (first * conv.channels_in + group * columns.k) * columns.n * width;
    now.out = columns.bytes > 0 ? b.scratch : out + group * columns.m * columns.n * width;
    launch(b, &Kernels::product, now);
    if (columns.bytes > 0) launch(b, &Kernels::fold, FoldArgs{conv, static_cast<int>(images), group, b.scratch, out});
  }

  ProductArgs of_group(const Buffers& b, int64_t images, int group) const {
    ProductArgs now = product;
    now.batch = images;
    now.a = b.in<std::byte>(kWeights) + group * columns.m * columns.k * width;
    return now;
  }
};

/// What both kinds have alike.
PlannedStep product_step(const Site& site, const TensorDesc& out, const ConvColumns& columns, ProductArgs& product) {
  product.type = *float_of(out.dtype);
  product.tf32 = site.context.precision == Precision::kTF32;
  product.m = columns.m, product.n = columns.n, product.k = columns.k;
  product.alpha = 1;
  PlannedStep step{.out = {out}};
  step.scratch_bytes = columns.bytes;
  step.label = columns.bytes > 0 ? "columns, cublas" : "cublas";
  return step;
}

}  // namespace

std::optional<ConvColumns> conv_columns(const ConvArgs& args, int64_t width, int64_t round_k, int64_t round_n) {
  const Geometry g(args);
  ConvColumns made{g.out_channels, int64_t{g.in_channels} * g.taps, g.positions, args.batch, 0};
  if (made.m < kLeast || made.k < kLeast || args.groups > kMostGroups) return std::nullopt;
  const bool turned = round_k > 1;  // such columns are made whatever the windows are
  if (are_columns(args.windows) && !turned) return made;
  if (!fit_images(made, args.batch, round_up(made.k, round_k) * round_up(made.n, round_n) * width)) return std::nullopt;
  return made;
}

std::optional<ConvColumns> transposed_columns(const ConvArgs& args, int64_t width) {
  const Geometry g(args);
  ConvColumns made{int64_t{g.out_channels} * g.taps, g.in_channels, g.positions, args.batch, 0};
  if (made.m < kLeast || made.k < kLeast || args.groups > kMostGroups) return std::nullopt;
  if (!are_columns(args.windows) && !fit_images(made, args.batch, made.m * made.n * width)) return std::nullopt;
  return made;
}

std::optional<PlannedStep> conv_by_product(const Site& site, const TensorDesc& out, const ConvArgs& args) {
  const int width = bits(out.dtype) / 8;
  const auto columns = conv_columns(args, width);
  if (!columns) return std::nullopt;
  Run run{args, *columns, {}, Geometry(args).plane, width, site.has(kBias), site.has(kAddend), false};
  run.ends = run.bias || run.addend || !is_within(args.act);
  PlannedStep step = product_step(site, out, *columns, run.product);
  run.product.b_stride = columns->bytes > 0 ? columns->k * columns->n : args.channels_in * run.plane;
  run.product.out_stride = args.channels_out * columns->n;
  if (!run.ends) run.product.act = args.act;
  step.run = run;
  return step;
}

std::optional<PlannedStep> transposed_by_product(const Site& site, const TensorDesc& out, const ConvArgs& args) {
  const int width = bits(out.dtype) / 8;
  const auto columns = transposed_columns(args, width);
  if (!columns) return std::nullopt;
  Run run{args, *columns, {}, Geometry(args).plane, width, site.has(kBias), site.has(kAddend), false};
  run.ends = run.bias || run.addend || args.act.fn != Fn::kNone;
  PlannedStep step = product_step(site, out, *columns, run.product);
  run.product.a_transposed = true;
  run.product.b_stride = args.channels_in * columns->n;
  run.product.out_stride = columns->bytes > 0 ? columns->m * columns->n : args.channels_out * run.plane;
  step.run = run;
  return step;
}

}  // namespace mlopt::gpu
