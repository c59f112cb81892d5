#include <algorithm>
#include <cmath>
#include <numeric>

#include "backends/reference/kernels.h"
#include "backends/reference/movement.h"
#include "backends/reference/resize_map.h"

namespace mlopt::reference {
namespace {

Tensor resize_nearest(const Call& call, const ResizeOptions& options, const std::vector<ResizedAxis>& sizes) {
  const Tensor& data = call.in(0);
  std::vector<std::vector<int64_t>> maps;
  for (const int64_t length : data.dims()) {
    maps.emplace_back(static_cast<size_t>(length));
    std::iota(maps.back().begin(), maps.back().end(), 0);
  }
  for (const ResizedAxis& size : sizes) {
    std::vector<int64_t>& map = maps[static_cast<size_t>(size.axis)];
    map.clear();
    for (const std::vector<AxisFilter::Tap>& taps : resize_filter(call, options, size).taps)
      map.push_back(taps.empty() ? -1 : taps[0].place);
  }
  ElementCodec codec(data.dtype());
  const bool fills = data.dtype() != DType::kString && options.extrapolation != 0;
  const Tensor fill = fills ? codec.open(cast(Tensor::scalar(options.extrapolation), data.dtype())) : codec.zeros({});
  return codec.close(gather_mapped(codec, codec.open(data), maps, fill.raw()));
}

/// Doubles rounded to the nearest value of an integer type, ties to even, within its limits.
Tensor rounded(const Tensor& values, DType type) {
  if (!is_integer(type)) return cast(values, type);
  const int width = bits(type) - (is_signed(type) ? 1 : 0);
  const double high = std::ldexp(1.0, width) - 1, low = is_signed(type) ? -std::ldexp(1.0, width) : 0;
  Tensor out = values;
  double* cell = out.mutable_data<double>();
  for (int64_t i = 0; i < out.size(); ++i) cell[i] = std::clamp(std::nearbyint(cell[i]), low, high);
  return cast(out, type);
}

Tensor resize_filtered(const Call& call, const ResizeOptions& options, const std::vector<ResizedAxis>& sizes) {
  const Tensor& data = call.in(0);
  if (!is_float(data.dtype()) && !is_integer(data.dtype())) wrong_type(call, data.dtype());
  Tensor values = as(data, is_float(data.dtype()) ? compute_type(data.dtype()) : DType::kF64);
  for (const ResizedAxis& size : sizes)
    if (!is_unchanged(options, size)) values = resampled(values, size.axis, resize_filter(call, options, size));
  return is_integer(data.dtype()) ? rounded(values, data.dtype()) : as(values, data.dtype());
}

Tensor resized(const Call& call, const ResizeOptions& options, const std::vector<ResizedAxis>& sizes) {
  for (const ResizedAxis& size : sizes) {
    require(call, std::isfinite(size.scale) && (size.scale > 0 || size.to == 0), "a scale is not positive");
    require(call, size.from > 0 || size.to == 0, "an empty axis cannot be enlarged");
  }
  Dims dims = call.in(0).dims();
  for (const ResizedAxis& size : sizes) dims[static_cast<size_t>(size.axis)] = size.to;
  // What is too large is refused here, before its axes are mapped.
  if (Tensor out(call.in(0).dtype(), std::move(dims)); out.size() == 0) return out;
  if (options.mode == "nearest") return resize_nearest(call, options, sizes);
  return resize_filtered(call, options, sizes);
}

void resize(Call& call) { call.set(0, resized(call, resize_options(call), resized_axes(call, call.in(0).dims()))); }

void upsample(Call& call) {
  std::vector<int> axes(static_cast<size_t>(call.in(0).rank()));
  std::iota(axes.begin(), axes.end(), 0);
  std::vector<float> scales;
  if (call.has(1))
    scales = to_floats(call.in(1));
  else if (call.view.has("scales"))
    scales = call.view.get_floats("scales");
  else
    scales = {1, 1, call.view.get_float("height_scale", 1), call.view.get_float("width_scale", 1)};
  ResizeOptions options;
  options.mode = call.view.get_string("mode", "nearest");
  call.set(0, resized(call, options, axes_from_scales(call, call.in(0).dims(), axes, scales)));
}

constexpr Kernel kKernels[] = {
    {"", "Resize", resize},
    {"", "Upsample", upsample},
};

}  // namespace

std::span<const Kernel> resize_kernels() { return kKernels; }

}  // namespace mlopt::reference
