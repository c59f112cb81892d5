#include "quantize/kept_numbers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "core/base/parallel.h"

namespace mlopt::quantize {
namespace {

constexpr int64_t kElements = int64_t{1} << 18;  // of rows that are looked at at once
constexpr int kBinBits = 16;  // of a float's highest: floats of one sign are in the order of their bits

struct Scored {
  float score;
  float number;
  int64_t at;
};

using Bins = std::vector<int64_t>;

size_t bin_of(float score) { return std::bit_cast<uint32_t>(score) >> kBinBits; }

class Chooser {
 public:
  Chooser(const Weight& weight, const Observed* seen)
      : weight_(weight),
        step_(std::max<int64_t>(1, kElements / std::max<int64_t>(1, weight.columns))),
        parts_((weight.rows + step_ - 1) / step_) {
    if (!seen) return;
    for (const double square : seen->squares) sizes_.push_back(static_cast<float>(std::sqrt(square)));
  }

  Kept run(int64_t count) const {
    std::vector<Scored> found = at_least(bin_with(count));
    const auto before = [](const Scored& a, const Scored& b) {
      return a.score != b.score ? a.score > b.score : a.at < b.at;
    };
    count = std::min(count, std::ssize(found));
    std::nth_element(found.begin(), found.begin() + count, found.end(), before);
    found.resize(static_cast<size_t>(count));
    std::sort(found.begin(), found.end(), [](const Scored& a, const Scored& b) { return a.at < b.at; });
    Kept kept;
    for (const Scored& one : found) {
      kept.at.push_back(one.at);
      kept.numbers.push_back(one.number);
    }
    return kept;
  }

 private:
  /// fn(part, Scored) for every number, parts on all threads.
  template <class Fn>
  void each(const Fn& fn) const {
    parallel_for(parts_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        const int64_t first = p * step_;
        const Matrix rows = load(weight_, first, std::min(step_, weight_.rows - first));
        for (int64_t r = 0; r < rows.rows; ++r)
          for (int64_t c = 0; c < rows.columns; ++c)
            fn(static_cast<size_t>(p),
               Scored{score(rows.at(r, c), first + r, c), rows.at(r, c), (first + r) * weight_.columns + c});
      }
    });
  }

  float score(float x, int64_t row, int64_t column) const {
    const int64_t group = row / std::max<int64_t>(1, weight_.rows / weight_.groups);
    const auto size = static_cast<size_t>(group * weight_.columns + column);
    const float score = std::fabs(x) * (size < sizes_.size() ? sizes_[size] : 1);
    return std::isfinite(score) ? score : 0;
  }

  /// The highest so that it and those above have as many numbers.
  size_t bin_with(int64_t count) const {
    std::vector<Bins> bins(static_cast<size_t>(parts_), Bins(size_t{1} << kBinBits));
    each([&](size_t part, const Scored& one) { ++bins[part][bin_of(one.score)]; });
    size_t bin = size_t{1} << kBinBits;
    while (bin > 0 && count > 0) {
      --bin;
      for (const Bins& part : bins) count -= part[bin];
    }
    return bin;
  }

  /// All numbers but zeros that are in that bin or above it.
  std::vector<Scored> at_least(size_t bin) const {
    std::vector<std::vector<Scored>> found(static_cast<size_t>(parts_));
    each([&](size_t part, const Scored& one) {
      if (bin_of(one.score) >= bin && one.score > 0) found[part].push_back(one);
    });
    std::vector<Scored> all;
    for (const auto& part : found) all.insert(all.end(), part.begin(), part.end());
    return all;
  }

  const Weight& weight_;
  int64_t step_, parts_;
  std::vector<float> sizes_;  ///< of what columns are multiplied by, group by group; empty: not seen
};

}  // namespace

Kept largest_numbers(const Weight& weight, double share, const Observed* seen) {
  const int64_t count = std::llround(share * static_cast<double>(weight.size()));
  return count > 0 ? Chooser(weight, seen).run(count) : Kept{};
}

void take_out(const Kept& kept, int64_t first, Matrix& rows) {
  const int64_t begin = first * rows.columns, end = begin + rows.rows * rows.columns;
  for (auto at = std::lower_bound(kept.at.begin(), kept.at.end(), begin); at != kept.at.end() && *at < end; ++at)
    rows.at((*at - begin) / rows.columns, (*at - begin) % rows.columns) = 0;
}

}  // namespace mlopt::quantize
