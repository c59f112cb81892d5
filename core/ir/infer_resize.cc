#include <cmath>

#include "core/ir/infer_types.h"
#include "core/tensor/cast.h"

namespace mlopt::infer_rules {
namespace {

/// Factors of the axes: an attribute, then an input that Resize moved behind the region. Nothing where none are known.
std::optional<std::vector<float>> scales_of(const NodeView& view) {
  const bool upsample = view.node().op == "Upsample";
  if (upsample && view.opset() < 9) return view.get_floats("scales");
  const Tensor* given = view.constant(upsample || view.opset() < 11 ? 1 : 2);
  if (!given || given->dtype() != DType::kF32) return std::nullopt;
  return to_floats(*given);
}

std::optional<Dim> scaled(const Dim& length, float scale) {
  constexpr int64_t kExact = 1 << 24;  // the standard counts in floats
  if (!(scale > 0) || scale > 1e6F || length.value().value_or(0) >= kExact) return std::nullopt;
  if (scale == std::floor(scale)) return length * Dim(static_cast<int64_t>(scale));
  if (!length.value()) return std::nullopt;
  return Dim(static_cast<int64_t>(std::floor(static_cast<float>(*length.value()) * scale)));
}

}  // namespace

Types resize(const NodeView& view) {
  const auto& x = dims_of(view, 0);
  if (!x || view.has("axes") || view.get_string("keep_aspect_ratio_policy", "stretch") != "stretch") return {};
  if (view.opset() >= 11 && view.node().input(3)) {
    const auto sizes = elements(view.node().input(3));
    if (!sizes || sizes->size() != x->size()) return {};
    return one(dtype_of(view, 0), *sizes);
  }
  const auto scales = scales_of(view);
  if (!scales || scales->size() != x->size()) return {};
  SymDims out = *x;
  for (size_t i = 0; i < out.size(); ++i) {
    const auto length = scaled(out[i], (*scales)[i]);
    if (!length) return {};
    out[i] = *length;
  }
  return one(dtype_of(view, 0), std::move(out));
}

}  // namespace mlopt::infer_rules
