#pragma once
#include "core/exec/plan.h"

namespace mlopt {

/// Whose name a step goes by that says nothing itself of how it is done.
inline std::string_view label_of(const Kernel& kernel, const KernelList& list) {
  return kernel.label.empty() ? list.backend : kernel.label;
}

/// "nhwc" and the like for channels-last, else "row-major".
std::string layout_name(const TensorDesc& desc);

/// What a step does that runs a node by this kernel, as far as the graph says the shapes.
StepInfo step_info(const NodeView& view, std::string_view kernel);
/// The same of a step of a plan of `model`.
StepInfo step_info(const Plan::Planned& planned, const Model& model);

}  // namespace mlopt
