#include "core/tensor/compare.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/tensor/cast.h"

namespace mlopt {
namespace {

void require_same_shape(const Tensor& actual, const Tensor& expected) {
  if (actual.dims() != expected.dims())
    input_error("shapes differ", fmt::format("{} and {}", to_string(actual.dims()), to_string(expected.dims())));
}

double argmax_agreement(const std::vector<double>& a, const std::vector<double>& e, const Dims& dims) {
  const int64_t row = dims.empty() ? 1 : dims.back();
  if (row < 2 || e.empty()) return 1;
  const auto rows = static_cast<int64_t>(e.size()) / row;
  int64_t same = 0;
  for (int64_t r = 0; r < rows; ++r) {
    const auto best = [&](const std::vector<double>& v) {
      const auto begin = v.begin() + r * row;
      return std::max_element(begin, begin + row) - begin;
    };
    same += best(a) == best(e);
  }
  return static_cast<double>(same) / static_cast<double>(rows);
}

bool same_special(double a, double e) { return (std::isnan(a) && std::isnan(e)) || a == e; }

}  // namespace

Difference difference(const Tensor& actual, const Tensor& expected) {
  require_same_shape(actual, expected);
  const std::vector<double> a = to_doubles(actual), e = to_doubles(expected);
  Difference d;
  double signal = 0, noise = 0, dot = 0, a_norm = 0;
  for (size_t i = 0; i < e.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(e[i])) {
      d.same_nonfinite = d.same_nonfinite && same_special(a[i], e[i]);
      continue;
    }
    const double gap = std::fabs(a[i] - e[i]), size = std::fabs(e[i]);
    if (gap > d.max_abs) d.max_abs = gap, d.worst = static_cast<int64_t>(i);
    if (size > 0) d.max_rel = std::max(d.max_rel, gap / std::max(size, 1e-30));
    d.max_expected = std::max(d.max_expected, size);
    signal += e[i] * e[i], noise += gap * gap, dot += a[i] * e[i], a_norm += a[i] * a[i];
  }
  d.sqnr_db = noise == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal / noise);
  const double norms = std::sqrt(a_norm) * std::sqrt(signal);
  d.cosine = norms > 0 ? std::min(1.0, dot / norms) : (a_norm == signal ? 1.0 : 0.0);
  d.argmax_agreement = argmax_agreement(a, e, expected.dims());
  return d;
}

std::optional<std::string> mismatch(const Tensor& actual, const Tensor& expected, double rtol, double atol) {
  if (actual.dtype() != expected.dtype())
    return fmt::format("type {} where {} is expected", name(actual.dtype()), name(expected.dtype()));
  if (actual.dims() != expected.dims())
    return fmt::format("shape {} where {} is expected", to_string(actual.dims()), to_string(expected.dims()));
  if (expected.dtype() == DType::kString) {
    for (size_t i = 0; i < expected.strings().size(); ++i)
      if (actual.strings()[i] != expected.strings()[i])
        return fmt::format("element {}: '{}' where '{}' is expected", i, actual.strings()[i], expected.strings()[i]);
    return std::nullopt;
  }
  if (!is_float(expected.dtype()) && !is_complex(expected.dtype())) {
    const std::vector<int64_t> a = to_ints(actual), e = to_ints(expected);
    for (size_t i = 0; i < e.size(); ++i)
      if (a[i] != e[i]) return fmt::format("element {}: {} where {} is expected", i, a[i], e[i]);
    return std::nullopt;
  }
  const std::vector<double> a = to_doubles(actual), e = to_doubles(expected);
  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < e.size(); ++i) {
    const bool finite = std::isfinite(a[i]) && std::isfinite(e[i]);
    const double excess = finite ? std::fabs(a[i] - e[i]) - (atol + rtol * std::fabs(e[i]))
                                 : (same_special(a[i], e[i]) ? 0 : std::numeric_limits<double>::infinity());
    if (excess > worst) worst = excess, at = i;
  }
  if (worst > 0) return fmt::format("element {}: {:.9g} where {:.9g} is expected", at, a[at], e[at]);
  return std::nullopt;
}

}  // namespace mlopt
