#include "core/calib/range.h"

#include <fmt/core.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt {

RangeMethod parse_range_method(std::string_view text) {
  const size_t equals = text.find('=');
  const std::string_view head = text.substr(0, equals);
  const std::vector<std::string> names = {"minmax", "percentile", "entropy", "mse"};
  RangeMethod method;
  if (head == "percentile") {
    method.kind = RangeMethod::Kind::kPercentile;
    if (equals == std::string_view::npos) return method;
    const auto value = parse_double(text.substr(equals + 1));
    if (!value || !(*value > 50 && *value <= 100))
      usage_error("the percentile must be above 50 and at most 100", std::string(text), "for example percentile=99.99");
    method.percentile = *value;
    return method;
  }
  if (equals != std::string_view::npos) usage_error("this calibration takes no value", std::string(text));
  if (head == "entropy")
    method.kind = RangeMethod::Kind::kEntropy;
  else if (head == "mse")
    method.kind = RangeMethod::Kind::kMse;
  else if (head != "minmax")
    usage_error(fmt::format("no calibration is called '{}'", text), {}, suggestion(head, names));
  return method;
}

std::string to_string(const RangeMethod& method) {
  switch (method.kind) {
    case RangeMethod::Kind::kPercentile:
      return fmt::format("percentile={}", method.percentile);
    case RangeMethod::Kind::kEntropy:
      return "entropy";
    case RangeMethod::Kind::kMse:
      return "mse";
    default:
      return "minmax";
  }
}

Range choose_range(const Histogram& histogram, const RangeMethod& method, int levels) {
  switch (method.kind) {
    case RangeMethod::Kind::kPercentile:
      return percentile_range(histogram, method.percentile);
    case RangeMethod::Kind::kEntropy:
      return entropy_range(histogram, levels);
    case RangeMethod::Kind::kMse:
      return mse_range(histogram, levels);
    default:
      return minmax_range(histogram);
  }
}

Range minmax_range(const Histogram& histogram) { return {histogram.min(), histogram.max()}; }

}  // namespace mlopt
