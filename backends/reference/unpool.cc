#include <fmt/core.h>

#include <algorithm>

#include "backends/reference/kernels.h"
#include "backends/reference/movement.h"

namespace mlopt::reference {
namespace {

constexpr int64_t kMost = int64_t{1} << 40;  // of a stride, pad, ...: products of two still fit

std::vector<int64_t> each(const Call& call, std::string_view attr, size_t count, int64_t otherwise, int64_t least) {
  std::vector<int64_t> values = call.view.get_ints(attr, std::vector<int64_t>(count, otherwise));
  if (values.size() != count) fail(call, fmt::format("{} must have {} numbers", attr, count));
  for (const int64_t v : values)
    if (v < least || v > kMost) fail(call, fmt::format("{} has the impossible value {}", attr, v));
  return values;
}

/// The picture's shape that MaxPool with these attributes turned into `pooled`.
Dims unpooled_dims(const Call& call, const Dims& pooled) {
  const size_t axes = pooled.size() - 2;
  const std::vector<int64_t> kernel = each(call, "kernel_shape", axes, 1, 1),
                             strides = each(call, "strides", axes, 1, 1);
  const std::vector<int64_t> pads = each(call, "pads", 2 * axes, 0, 0);
  Dims dims = pooled;
  for (size_t i = 0; i < axes; ++i)
    dims[i + 2] =
        element_count({pooled[i + 2] - 1 + (pooled[i + 2] == 0), strides[i]}) + kernel[i] - pads[i] - pads[i + axes];
  return dims;
}

void max_unpool(Call& call) {
  const Tensor& data = call.in(0);
  require(call, data.rank() >= 3, "the input must have a spatial axis");
  require(call, call.view.has("kernel_shape"), "kernel_shape is missing");
  require(call, call.in(1).dims() == data.dims(), "the indices do not fit the input");
  const Dims inferred = unpooled_dims(call, data.dims());
  ElementCodec codec(data.dtype());
  const Tensor values = codec.open(data);
  Tensor picture = codec.zeros(inferred);
  const std::vector<int64_t> places = to_ints(call.in(1));
  std::byte* cells = picture.mutable_raw();
  for (size_t i = 0; i < places.size(); ++i) {
    require(call, places[i] >= 0 && places[i] < picture.size(), "an index is outside the output");
    std::copy_n(values.raw() + i * codec.width(), codec.width(),
                cells + static_cast<size_t>(places[i]) * codec.width());
  }
  if (!call.has(2)) return call.set(0, codec.close(std::move(picture)));
  Tensor larger = codec.zeros(to_ints(call.in(2)));
  require(call, larger.rank() == data.rank(), "output_shape has another number of axes");
  for (int i = 0; i < data.rank(); ++i)
    require(call, larger.dim(i) >= inferred[static_cast<size_t>(i)], "output_shape is too small");
  copy_strided(inferred, codec.width(), picture.raw(), row_major_strides(inferred), larger.mutable_raw(),
               row_major_strides(larger.dims()));
  call.set(0, codec.close(std::move(larger)));
}

/// How blocks lie on the picture, for each axis.
struct Blocks {
  std::vector<int64_t> image, block, strides, pads, dilations, counts;
};

Blocks blocks_of(const Call& call) {
  Blocks b{to_ints(call.in(1)), to_ints(call.in(2)), {}, {}, {}, {}};
  const size_t axes = b.image.size();
  require(call, axes > 0 && b.block.size() == axes, "image_shape and block_shape must have the same length");
  b.strides = each(call, "strides", axes, 1, 1);
  b.pads = each(call, "pads", 2 * axes, 0, 0);
  b.dilations = each(call, "dilations", axes, 1, 1);
  for (size_t i = 0; i < axes; ++i) {
    require(call, b.image[i] >= 0 && b.image[i] < kMost && b.block[i] > 0 && b.block[i] < kMost,
            "a shape is impossible");
    const int64_t room =
        b.image[i] + b.pads[i] + b.pads[i + axes] - element_count({b.dilations[i], b.block[i] - 1}) - 1;
    require(call, room >= 0, "a block is larger than the padded picture");
    b.counts.push_back(room / b.strides[i] + 1);
  }
  return b;
}

/// Where element `tap` of block `place` lies in the picture; -1: in the padding.
int64_t pixel(const Blocks& b, int64_t tap, int64_t place) {
  int64_t offset = 0, stride = 1;
  for (size_t i = b.image.size(); i-- > 0;) {
    const int64_t at = place % b.counts[i] * b.strides[i] - b.pads[i] + tap % b.block[i] * b.dilations[i];
    if (at < 0 || at >= b.image[i]) return -1;
    offset += at * stride;
    stride *= b.image[i];
    place /= b.counts[i];
    tap /= b.block[i];
  }
  return offset;
}

void col2im(Call& call) {
  const Tensor& data = call.in(0);
  const Blocks b = blocks_of(call);
  const int64_t taps = element_count(b.block), places = element_count(b.counts);
  require(call, data.rank() == 3 && data.dim(1) % taps == 0 && data.dim(2) == places,
          "the input does not fit the blocks");
  Dims dims{data.dim(0), data.dim(1) / taps};
  dims.insert(dims.end(), b.image.begin(), b.image.end());
  const Tensor wide = widened(data);
  with_number(call, data.dtype(), [&](auto sample) {
    using T = decltype(sample);
    Tensor out = Tensor::zeros(dtype_of<T>(), dims);
    const int64_t planes = dims[0] * dims[1], size = planes == 0 ? 0 : out.size() / planes;
    const T* from = wide.data<T>();
    T* to = out.mutable_data<T>();
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t place = 0; place < places; ++place) {
        const int64_t at = pixel(b, tap, place);
        for (int64_t p = 0; at >= 0 && p < planes; ++p) to[p * size + at] += from[(p * taps + tap) * places + place];
      }
    call.set(0, as(out, data.dtype()));
  });
}

constexpr Kernel kKernels[] = {
    {"", "MaxUnpool", max_unpool},
    {"", "Col2Im", col2im},
};

}  // namespace

std::span<const Kernel> unpool_kernels() { return kKernels; }

}  // namespace mlopt::reference
