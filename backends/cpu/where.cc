// Where of elements of any size, under NumPy's broadcasting.
#include <algorithm>
#include <array>
#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/cpu/strided.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

/// One axis of the output, and how the condition and the two choices step along it: 0 where they repeat.
struct Axis {
  int64_t count;
  std::array<int64_t, 3> steps;
};

/// The output's axes, outermost first, those that all step through alike merged; at least one.
std::vector<Axis> merged(std::vector<Axis> axes) {
  std::vector<Axis> found;
  for (const Axis& a : axes) {
    if (a.count == 1) continue;
    const bool joins = !found.empty() && std::equal(a.steps.begin(), a.steps.end(), found.back().steps.begin(),
                                                    [&](int64_t in, int64_t out) { return out == in * a.count; });
    if (joins)
      found.back() = {found.back().count * a.count, a.steps};
    else
      found.push_back(a);
  }
  if (found.empty()) found.push_back({1, {0, 0, 0}});
  return found;
}

template <class T>
void choose(const std::vector<Axis>& axes, const uint8_t* condition, const T* yes, const T* no, T* out) {
  constexpr int64_t kGrain = 16384;  // elements below which a second thread costs more than it brings
  const Axis row = axes.back();
  int64_t rows = 1;
  for (const Axis& a : axes) rows *= a.count;
  rows /= row.count;
  parallel_for(rows, std::max<int64_t>(1, kGrain / row.count), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      std::array<int64_t, 3> at{};
      int64_t rest = k;
      for (size_t axis = axes.size() - 1; axis-- > 0; rest /= axes[axis].count)
        for (size_t i = 0; i < 3; ++i) at[i] += rest % axes[axis].count * axes[axis].steps[i];
      T* y = out + k * row.count;
      for (int64_t i = 0; i < row.count; ++i)
        y[i] = condition[at[0] + i * row.steps[0]] ? yes[at[1] + i * row.steps[1]] : no[at[2] + i * row.steps[2]];
    }
  });
}

Expected<PlannedStep> plan(const Site& site) {
  const auto width = element_bytes(site.desc(1).dtype);
  if (!width || site.desc(0).dtype != DType::kBool || site.desc(1).dtype != site.desc(2).dtype)
    return Decline{"not a condition and two tensors of one type, of whole bytes"};
  TensorDesc out{site.desc(1).dtype, broadcast(broadcast(site.desc(0).dims, site.desc(1).dims), site.desc(2).dims),
                 site.layout};
  if (out.dims.size() < 3) out.layout = mlopt::Layout::kRowMajor;
  const size_t rank = out.dims.size();
  std::vector<Axis> axes(rank);
  for (int i = 0; i < 3; ++i) {
    const TensorDesc& x = site.desc(i);
    const Dims strides = x.strides();
    for (size_t k = 0; k < rank; ++k) {
      const size_t missing = rank - x.dims.size();
      axes[k].count = out.dims[k];
      axes[k].steps[static_cast<size_t>(i)] = k < missing || x.dims[k - missing] == 1 ? 0 : strides[k - missing];
    }
  }
  if (out.layout == mlopt::Layout::kChannelsLast) std::rotate(axes.begin() + 1, axes.begin() + 2, axes.end());
  PlannedStep step{.out = {std::move(out)}};
  step.run = [axes = merged(std::move(axes)), width = *width](const Buffers& b) {
    by_width(width, [&](auto sample) {
      using T = decltype(sample);
      choose(axes, b.in<uint8_t>(0), b.in<T>(1), b.in<T>(2), b.out<T>(0));
    });
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "Where", .plan = plan, .layout = LayoutRule::kFollows}};

}  // namespace

std::span<const Kernel> where_kernels() { return kKernels; }

}  // namespace mlopt::cpu
