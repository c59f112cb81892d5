#include "core/ir/infer_types.h"

namespace mlopt::infer_rules {

namespace {

/// Places of a window that reaches over `reach` of `size` + `padding`, `stride` apart; not known where it does not fit.
Dim places(const Dim& size, const Dim& reach, int64_t pad_begin, int64_t pad_end, int64_t stride, bool ceil_mode) {
  const Dim room = size + Dim(pad_begin) + Dim(pad_end) - reach;
  if (room.value().value_or(0) <= (ceil_mode ? -stride : -1)) return {};
  Dim whole = Dim::floor_divide(room, stride) + 1;
  if (!ceil_mode) return whole;
  // The last window must start inside the input: in front of `size` + `pad_begin`.
  if (Dim::divide(room, stride)) return reach.value() && pad_end >= *reach.value() ? whole - 1 : whole;
  const auto next_start = (whole * stride).value(), end = (size + Dim(pad_begin)).value();
  if (!next_start || !end) return {};
  return *next_start < *end ? whole + 1 : whole;
}

}  // namespace

SymDims window_output(const NodeView& view, const SymDims& input, const std::vector<int64_t>& kernel) {
  const size_t spatial = kernel.size();
  const auto strides = view.get_ints("strides", std::vector<int64_t>(spatial, 1));
  const auto dilations = view.get_ints("dilations", std::vector<int64_t>(spatial, 1));
  const auto pads = view.get_ints("pads", std::vector<int64_t>(2 * spatial, 0));
  const std::string auto_pad = view.get_string("auto_pad", "NOTSET");
  const bool ceil_mode = view.get_int("ceil_mode", 0) != 0, padded = auto_pad != "VALID";
  SymDims out = input;
  const bool sound = strides.size() == spatial && dilations.size() == spatial && pads.size() == 2 * spatial;
  for (size_t i = 0; i < spatial; ++i) {
    Dim& size = out[i + 2];
    if (!sound || strides[i] <= 0) {
      size = Dim();
      continue;
    }
    const Dim reach = (Dim(kernel[i]) - 1) * dilations[i] + 1;
    if (auto_pad.starts_with("SAME"))
      size = Dim::floor_divide(size + Dim(strides[i] - 1), strides[i]);
    else
      size = places(size, reach, padded ? pads[i] : 0, padded ? pads[i + spatial] : 0, strides[i], ceil_mode);
  }
  return out;
}

Types convolution_of(const NodeView& view, int source, int weights, DType made) {
  const auto &x = dims_of(view, source), &w = dims_of(view, weights);
  if (!x && w && w->size() >= 3) {  // its weights tell the rank of what it reads
    SymDims out(w->size());
    out[1] = (*w)[0];
    return one(made, out);
  }
  if (!x || !w || x->size() < 3 || w->size() != x->size()) return one(made, std::nullopt);
  std::vector<int64_t> kernel = view.get_ints("kernel_shape");
  if (kernel.empty())
    for (size_t i = 2; i < w->size(); ++i) {
      if (!(*w)[i].value()) return one(made, std::nullopt);
      kernel.push_back(*(*w)[i].value());
    }
  if (kernel.size() + 2 != x->size()) return one(made, std::nullopt);
  SymDims out = window_output(view, *x, kernel);
  out[1] = (*w)[0];
  return one(made, out);
}

Types convolution(const NodeView& view) { return convolution_of(view, 0, 1, dtype_of(view, 0)); }

Types transposed_convolution(const NodeView& view) {
  const auto &x = dims_of(view, 0), &w = dims_of(view, 1);
  const std::string auto_pad = view.get_string("auto_pad", "NOTSET");
  const bool same = auto_pad.starts_with("SAME");
  if (!x || !w || x->size() < 3 || w->size() != x->size() || view.has("output_shape") ||
      (auto_pad != "NOTSET" && !same))
    return {};
  const size_t spatial = x->size() - 2;
  const auto strides = view.get_ints("strides", std::vector<int64_t>(spatial, 1));
  const auto dilations = view.get_ints("dilations", std::vector<int64_t>(spatial, 1));
  const auto pads = view.get_ints("pads", std::vector<int64_t>(2 * spatial, 0));
  const auto more = view.get_ints("output_padding", std::vector<int64_t>(spatial, 0));
  if (strides.size() != spatial || dilations.size() != spatial || pads.size() != 2 * spatial || more.size() != spatial)
    return {};
  SymDims out = *x;
  out[1] = (*w)[1] * Dim(view.get_int("group", 1));
  for (size_t i = 0; i < spatial; ++i) {
    const Dim reach = ((*w)[i + 2] - 1) * Dim(dilations[i]) + 1;
    if (same)
      out[i + 2] = out[i + 2] * Dim(strides[i]);
    else
      out[i + 2] = (out[i + 2] - 1) * Dim(strides[i]) + reach + Dim(more[i]) - Dim(pads[i]) - Dim(pads[i + spatial]);
  }
  return one(dtype_of(view, 0), std::move(out));
}

Types pool(const NodeView& view) {
  const auto& x = dims_of(view, 0);
  const std::vector<int64_t> kernel = view.get_ints("kernel_shape");
  if (!x || x->size() != kernel.size() + 2) return one(dtype_of(view, 0), std::nullopt);
  const SymDims out = window_output(view, *x, kernel);
  return {Type::tensor(dtype_of(view, 0), out), Type::tensor(DType::kI64, out)};
}

Types global_pool(const NodeView& view) {
  auto dims = dims_of(view, 0);
  if (dims)
    for (size_t i = 2; i < dims->size(); ++i) (*dims)[i] = 1;
  return one(dtype_of(view, 0), dims);
}

}  // namespace mlopt::infer_rules
