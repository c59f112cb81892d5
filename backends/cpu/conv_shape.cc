#include "backends/cpu/conv_shape.h"

#include <algorithm>
#include <numeric>

namespace mlopt::cpu {

Dims conv_weight_dims(const Dims& w, int64_t groups) {
  if (groups == 1) return w;
  Dims grouped = w;
  grouped[0] /= groups;
  grouped.insert(grouped.begin(), groups);
  return grouped;
}

Expected<ConvShape> conv_shape(const NodeView& view, const Dims& x, const Dims& w) {
  if (x.size() < 3 || x.size() > 5 || w.size() != x.size()) return Decline{"only 1 to 3 spatial axes"};
  const int64_t groups = view.get_int("group", 1);
  if (groups < 1 || w[0] % groups != 0 || x[1] % groups != 0 || w[1] != x[1] / groups)
    return Decline{"channels and groups do not fit"};
  if (view.get_ints("kernel_shape", spatial_of(w)) != spatial_of(w)) return Decline{"kernel_shape is not the weights'"};
  const auto window = window_over(view, spatial_of(x), spatial_of(w));
  if (!window) return window.error();
  const auto out = positions(*window, spatial_of(x));
  if (!out) return out.error();
  Dims dst{x[0], w[0]};
  dst.insert(dst.end(), out->begin(), out->end());
  return ConvShape{x, conv_weight_dims(w, groups), std::move(dst), groups, *window};
}

ConvShape long_axes_last(const ConvShape& s) {
  std::vector<size_t> order(s.window.kernel.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_partition(order.begin(), order.end(),
                        [&](size_t i) { return s.src[i + 2] == 1 && s.window.kernel[i] == 1 && s.dst[i + 2] == 1; });
  const auto turned = [&](const Dims& dims) {
    Dims all = dims;
    const size_t first = dims.size() - order.size();
    for (size_t i = 0; i < order.size(); ++i) all[first + i] = dims[first + order[i]];
    return all;
  };
  const Window& w = s.window;
  return {turned(s.src),
          turned(s.weights),
          turned(s.dst),
          s.groups,
          {turned(w.kernel), turned(w.strides), turned(w.dilations), turned(w.begin), turned(w.end)}};
}

ConvPd describe_conv(const ConvShape& s, const Desc& src, Elem weights, const Desc& bias, const Desc& dst,
                     const dnnl::primitive_attr& attr) {
  return ConvPd(engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, src,
                any(weights, s.weights), bias, dst, s.window.strides, s.window.gaps(), s.window.begin, s.window.end,
                attr, true);
}

}  // namespace mlopt::cpu
