#pragma once
#include "core/calib/calibrate.h"
#include "core/train/communicator.h"

namespace mlopt::cli {

/// What all ranks have seen together; exact: histograms are counts whose bins of any two fit. All ranks call it.
Calibration share_calibration(train::Communicator& ranks, const Calibration& mine);

}  // namespace mlopt::cli
