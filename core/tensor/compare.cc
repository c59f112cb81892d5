#include "core/tensor/compare.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/tensor/cast.h"

namespace mlopt {
namespace {

void require_alike(const Tensor& actual, const Tensor& expected) {
  if (actual.dims() != expected.dims())
    input_error("shapes differ", fmt::format("{} and {}", to_string(actual.dims()), to_string(expected.dims())));
  if (is_complex(actual.dtype()) != is_complex(expected.dtype()))
    input_error("types differ", fmt::format("{} and {}", name(actual.dtype()), name(expected.dtype())));
}

bool same_special(double a, double e) { return (std::isnan(a) && std::isnan(e)) || a == e; }

/// Of 64-bit integers, which doubles round: the gap between two that are near each other.
class ExactGaps {
 public:
  ExactGaps(const Tensor& actual, const Tensor& expected) {
    const auto wide = [](DType type) { return is_integer(type) && bits(type) == 64; };
    if (!wide(actual.dtype()) || !wide(expected.dtype())) return;
    actual_ = to_ints(actual);
    expected_ = to_ints(expected);
  }

  /// `rounded`: the gap of the doubles.
  double operator()(size_t i, double rounded) const {
    if (actual_.empty() || rounded >= 0x1p62) return rounded;
    const uint64_t apart = static_cast<uint64_t>(actual_[i]) - static_cast<uint64_t>(expected_[i]);
    return std::fabs(static_cast<double>(static_cast<int64_t>(apart)));
  }

 private:
  std::vector<int64_t> actual_, expected_;
};

}  // namespace

std::vector<double> real_numbers(const Tensor& tensor) {
  if (!is_complex(tensor.dtype())) return to_doubles(tensor);
  const DType part = tensor.dtype() == DType::kC64 ? DType::kF32 : DType::kF64;
  return to_doubles(Tensor::view(part, {2 * tensor.size()}, tensor.raw_bytes(), nullptr));
}

void DifferenceSum::add(const Tensor& actual, const Tensor& expected) {
  require_alike(actual, expected);
  const std::vector<double> a = real_numbers(actual), e = real_numbers(expected);
  const ExactGaps exact(actual, expected);
  const size_t parts = is_complex(expected.dtype()) ? 2 : 1;
  for (size_t i = 0; i < e.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(e[i])) {
      found_.same_nonfinite = found_.same_nonfinite && same_special(a[i], e[i]);
      found_.lost_numbers = found_.lost_numbers || std::isfinite(e[i]);
      continue;
    }
    const double gap = exact(i, std::fabs(a[i] - e[i])), size = std::fabs(e[i]);
    if (gap > found_.max_abs) {
      found_.max_abs = gap;
      found_.worst = elements_ + static_cast<int64_t>(i / parts);
    }
    if (size > 0) found_.max_rel = std::max(found_.max_rel, gap / std::max(size, 1e-30));
    found_.max_expected = std::max(found_.max_expected, size);
    signal_ += e[i] * e[i];
    noise_ += gap * gap;
    dot_ += a[i] * e[i];
    actual_norm_ += a[i] * a[i];
  }
  elements_ += expected.size();
  if (expected.rank() > 1 && parts == 1) add_rows(a, e, expected.dims().back());
  if (expected.rank() > 1 || !is_integer(expected.dtype())) return;
  rows_ += expected.size();
  for (size_t i = 0; i < e.size(); ++i) agreeing_ += exact(i, std::fabs(a[i] - e[i])) == 0;
}

void DifferenceSum::add_rows(const std::vector<double>& actual, const std::vector<double>& expected, int64_t row) {
  if (row < 2) return;
  for (int64_t begin = 0; begin < static_cast<int64_t>(expected.size()); begin += row) {
    const auto best = [&](const std::vector<double>& v) {
      return std::max_element(v.begin() + begin, v.begin() + begin + row) - v.begin();
    };
    ++rows_;
    agreeing_ += best(actual) == best(expected);
  }
}

Difference DifferenceSum::result() const {
  Difference d = found_;
  d.sqnr_db = noise_ == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal_ / noise_);
  const double norms = std::sqrt(actual_norm_) * std::sqrt(signal_);
  d.cosine = norms > 0 ? std::min(1.0, dot_ / norms) : (actual_norm_ == signal_ ? 1.0 : 0.0);
  d.rows = rows_;
  if (rows_ > 0) d.argmax_agreement = static_cast<double>(agreeing_) / static_cast<double>(rows_);
  return d;
}

Difference difference(const Tensor& actual, const Tensor& expected) {
  DifferenceSum sum;
  sum.add(actual, expected);
  return sum.result();
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
  const std::vector<double> a = real_numbers(actual), e = real_numbers(expected);
  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < e.size(); ++i) {
    const bool finite = std::isfinite(a[i]) && std::isfinite(e[i]);
    const double excess = finite ? std::fabs(a[i] - e[i]) - (atol + rtol * std::fabs(e[i]))
                                 : (same_special(a[i], e[i]) ? 0 : std::numeric_limits<double>::infinity());
    if (excess > worst) worst = excess, at = i;
  }
  if (worst == 0) return std::nullopt;
  const size_t element = is_complex(expected.dtype()) ? at / 2 : at;
  return fmt::format("element {}: {:.9g} where {:.9g} is expected", element, a[at], e[at]);
}

}  // namespace mlopt
