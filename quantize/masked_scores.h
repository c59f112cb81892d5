#pragma once
#include <optional>

#include "core/calib/calibrate.h"
#include "core/calib/range.h"
#include "quantize/plan.h"

namespace mlopt::quantize {

/// The range of scores that a mask hides by large negative numbers or minus infinity (Add or Where) before a softmax
/// alone reads them. Those numbers mean that nothing is left of the place, which exp(-12) of the lowest score says as
/// well; a range that held them would have one code for all scores. Nothing where `y` is no such value, or what was
/// seen of the scores is not known.
std::optional<Range> masked_scores_range(const Value& y, const Plan& plan, const Calibration& seen, const Spec& spec);

}  // namespace mlopt::quantize
