// TopK of float32 for a k that is known.
#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/cpu/middle.h"
#include "core/base/parallel.h"
#include "core/tensor/cast.h"

namespace mlopt::cpu {
namespace {

struct Way {
  Middle around;  ///< the axis
  int64_t k;
  bool largest;
};

/// A number that is larger the earlier the element comes: in its upper half by the value, NaN above all and both zeros
/// alike, in its lower half by the place, the first first.
uint64_t rank_of(float x, uint32_t place, bool largest) {
  constexpr uint32_t kSign = 1u << 31, kNaN = ~0u;
  const uint32_t bits = std::bit_cast<uint32_t>(x + 0.0f);
  const uint32_t order = x != x ? kNaN : (bits & kSign) != 0 ? ~bits : bits | kSign;
  return uint64_t{largest ? order : ~order} << 32 | static_cast<uint32_t>(~place);
}

int64_t place_of(uint64_t rank) { return static_cast<uint32_t>(~rank); }

/// The k first ranks of a line, in order. What is behind the k-th of those seen so far is not kept, and the others are
/// sifted when they fill the room.
void take_first(const float* x, int64_t step, const Way& way, std::vector<uint64_t>& ranks) {
  constexpr int64_t kRoom = 32;
  const auto most = static_cast<size_t>(std::max(2 * way.k, kRoom));
  const auto sift = [&] {
    if (ranks.size() > static_cast<size_t>(way.k))
      std::nth_element(ranks.begin(), ranks.begin() + way.k - 1, ranks.end(), std::greater<>());
    ranks.resize(static_cast<size_t>(way.k));
  };
  ranks.clear();
  float last = std::numeric_limits<float>::quiet_NaN();  // the k-th so far
  for (int64_t i = 0; i < way.around.length; ++i) {
    const float value = x[i * step];
    if (way.largest ? value <= last : value >= last) continue;
    ranks.push_back(rank_of(value, static_cast<uint32_t>(i), way.largest));
    if (ranks.size() < most) continue;
    sift();
    last = x[place_of(ranks.back()) * step];
  }
  sift();
  std::sort(ranks.begin(), ranks.end(), std::greater<>());
}

void top_k(const Way& way, const float* x, float* values, int64_t* places) {
  constexpr int64_t kGrain = 8192;  // elements below which a second thread costs more than it brings
  const Middle& m = way.around;
  parallel_for(m.outer * m.inner, std::max<int64_t>(1, kGrain / m.length), [&](int64_t begin, int64_t end) {
    std::vector<uint64_t> ranks;
    for (int64_t line = begin; line < end; ++line) {
      const int64_t outer = line / m.inner, inner = line % m.inner;
      const float* from = x + outer * m.length * m.inner + inner;
      take_first(from, m.inner, way, ranks);
      for (int64_t i = 0; i < way.k; ++i) {
        const int64_t at = (outer * way.k + i) * m.inner + inner;
        places[at] = place_of(ranks[static_cast<size_t>(i)]);
        values[at] = from[places[at] * m.inner];
      }
    }
  });
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  if (x.dtype != DType::kF32 || x.dims.empty()) return Decline{"not float32 with axes"};
  const Tensor* given = site.view.constant(1);
  if (!given && !site.view.has("k")) return Decline{"k is not constant"};
  if (given && given->size() != 1) return Decline{"not one k"};
  const int64_t k = given ? to_ints(*given)[0] : site.view.get_int("k");
  const auto axis =
      static_cast<size_t>(normalize_axis(site.view.get_int("axis", -1), static_cast<int64_t>(x.dims.size())));
  const Way way{around(x.dims, axis), k, site.view.get_int("largest", 1) != 0};
  if (k < 1 || k > way.around.length || way.around.length >= int64_t{1} << 32) return Decline{"k does not fit"};
  TensorDesc values{DType::kF32, x.dims}, places{DType::kI64, x.dims};
  values.dims[axis] = places.dims[axis] = k;
  PlannedStep step{.out = {values, places}};
  if (given) step.packed = {1};
  step.run = [way](const Buffers& b) { top_k(way, b.in<float>(0), b.out<float>(0), b.out<int64_t>(1)); };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "TopK", .plan = plan}};

}  // namespace

std::span<const Kernel> top_k_kernels() { return kKernels; }

}  // namespace mlopt::cpu
