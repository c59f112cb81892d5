#pragma once
#include "core/calib/histogram.h"
#include "quantize/uniform/params.h"

namespace mlopt::quantize {

/// Where numbers lie, and how many of them are outside of what codes reach.
struct Coverage {
  double low = 0,
         high = 0;     ///< of weights the least and the largest; of activations what the outermost codes stand for
  double clipped = 0;  ///< share that is further than half a step outside of what codes stand for
};

/// Of an activation that was observed.
Coverage coverage_of(const Histogram& seen, const Grid& grid);

}  // namespace mlopt::quantize
