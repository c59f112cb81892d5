#pragma once
#include <string>
#include <string_view>

#include "core/calib/histogram.h"

namespace mlopt {

/// The interval of numbers that a quantized activation represents.
struct Range {
  double min = 0, max = 0;
};

/// How a range is chosen from what was observed.
struct RangeMethod {
  enum class Kind { kMinMax, kPercentile, kEntropy, kMse } kind = Kind::kMinMax;
  double percentile = 99.99;  ///< of kPercentile: the share that is kept, half of the rest cut on each side
};

/// "minmax", "percentile=99.99", "entropy", "mse"; throws Error{kUsage} for anything else.
RangeMethod parse_range_method(std::string_view text);
std::string to_string(const RangeMethod& method);

/// The range for `levels` quantization levels (255 or 256 for 8 bits).
Range choose_range(const Histogram& histogram, const RangeMethod& method, int levels);

// One for each file range_*.cc.
Range minmax_range(const Histogram& histogram);
Range percentile_range(const Histogram& histogram, double percentile);
/// The threshold t whose range, what was seen clipped to [-t, t], has the quantized distribution that is nearest by
/// Kullback-Leibler divergence (Migacz, "8-bit inference with TensorRT", GTC 2017). That paper folds the distribution
/// to magnitudes, for grids around zero; here the levels are spread over the range as they will be, so that a short
/// negative side (HardSwish, SiLU) takes few. Every range holds at least `levels` filled bins: without, all numbers
/// clipped to one would count as no loss. Exact zeros are left out: every grid has them, and the many of a Relu would
/// outweigh all else.
Range entropy_range(const Histogram& histogram, int levels);
/// The sub-range with the least expected squared error: of rounding inside, of clipping outside.
Range mse_range(const Histogram& histogram, int levels);

}  // namespace mlopt
