// Resize or Upsample by 1, or to the size that a value has -> x.
#include <algorithm>

#include "core/tensor/cast.h"
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

bool all_one(const std::vector<double>& scales) {
  return !scales.empty() && std::all_of(scales.begin(), scales.end(), [](double s) { return s == 1; });
}

/// Every scale is 1, where the operator is given scales.
bool scales_by_one(const NodeView& view) {
  if (view.node().is("Upsample") && view.opset() < 9) {
    const std::vector<float> scales = view.get_floats("scales");
    return all_one({scales.begin(), scales.end()});
  }
  const Tensor* scales = view.constant(view.node().is("Resize") && view.opset() >= 11 ? 2 : 1);
  return scales && all_one(to_doubles(*scales));
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const NodeView view = builder.view(*m.root);
  Value* x = m.value("x");
  if (view.opset() < 7) return Decline{"its opset writes its scales in another way"};
  const std::string place = view.get_string("coordinate_transformation_mode", "half_pixel");
  if (place == "tf_crop_and_resize" || place == "tf_half_pixel_for_nn")
    return Decline{"it takes elements from other places"};
  if (view.get_int("antialias", 0) || view.get_int("exclude_outside", 0)) return Decline{"it filters"};
  if (scales_by_one(view)) return Replacement{x};
  const bool sized = m.root->is("Resize") && m.root->input(3);
  if (!sized || !same_dims(x->type.dims, m.root->output(0)->type.dims)) return Decline{"it may change the size"};
  return Replacement{x};
}

std::vector<Rule> rules() { return {{Pattern::op("Resize|Upsample", {Pattern::any("x")}).open(), rewrite}}; }

}  // namespace

const Pass eliminate_nop_resize = {"eliminate_nop_resize", "remove Resize that keeps the size", rules};

}  // namespace mlopt::graphopt
