#pragma once
#include "core/calib/weights.h"
#include "quantize/coverage.h"
#include "quantize/methods.h"

namespace mlopt::quantize {

/// A weight in codes, and how near these are.
struct EncodedWeight {
  Coded coded;
  double sqnr_db = 0;      ///< of the numbers that the codes stand for; infinite where these are the same
  bool finite = true;      ///< the weight: no code stands for NaN or infinity
  Coverage coverage = {};  ///< of the weight; where codes stand for several numbers nothing counts as clipped
};

/// encode() of the whole weight, some of its rows after the others where the method allows it, so that no more than
/// these are in memory as floats.
EncodedWeight encode_weight(const Weight& weight, const Method& method, const Scheme& scheme, const Observed* seen,
                            bool rectified);

/// The same of codes that were chosen before.
EncodedWeight with_sqnr(const Weight& weight, const Coded& coded);

}  // namespace mlopt::quantize
