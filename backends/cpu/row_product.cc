#include "backends/cpu/row_product.h"

#include <algorithm>

#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/row_product.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

/// c[i] += a b[i] for `kVectors` vectors that lie side by side in rows of the depth, of `kPanels` panels.
template <int kPanels, int kVectors>
HWY_INLINE void add_panels(const float* a, const float* b, int64_t panel_stride, int64_t depth, float* c) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), width = kVectors * lanes;
  constexpr int kWays = 8 / (kPanels * kVectors);  // chains of additions, so that the units are never idle
  V sums[kWays][kPanels][kVectors];
  for (auto& way : sums)
    for (auto& panel : way)
      for (V& sum : panel) sum = hn::Zero(d);
  const auto step = [&](int64_t k, int way) HWY_ATTR {
    const V factor = constant(a[k]);
    HWY_UNROLL(2)
    for (int p = 0; p < kPanels; ++p) {
      HWY_UNROLL(2)
      for (int v = 0; v < kVectors; ++v)
        sums[way][p][v] =
            hn::MulAdd(factor, hn::LoadU(d, b + p * panel_stride + k * width + v * lanes), sums[way][p][v]);
    }
  };
  int64_t k = 0;
  for (; k + kWays <= depth; k += kWays) {
    HWY_UNROLL(8)
    for (int way = 0; way < kWays; ++way) step(k + way, way);
  }
  for (; k < depth; ++k) step(k, 0);
  HWY_UNROLL(2)
  for (int p = 0; p < kPanels; ++p) {
    HWY_UNROLL(2)
    for (int v = 0; v < kVectors; ++v) {
      V sum = sums[0][p][v];
      HWY_UNROLL(8)
      for (int way = 1; way < kWays; ++way) sum = hn::Add(sum, sums[way][p][v]);
      float* out = c + p * width + v * lanes;
      hn::StoreU(hn::Add(hn::LoadU(d, out), sum), d, out);
    }
  }
}

void AddRowProduct(const float* a, const float* b, const PanelLayout& l, float* c) {
  const int64_t stride = l.offset_of(1);
  int64_t panel = 0;
  for (; (panel + 2) * l.width <= l.columns; panel += 2)
    add_panels<2, 2>(a, b + panel * stride, stride, l.depth, c + panel * l.width);
  for (; panel < l.panels(); ++panel) {
    HWY_ALIGN float rest[2 * hn::MaxLanes(F())] = {};
    const int64_t columns = l.columns_of(panel);
    float* out = c + panel * l.width;
    std::copy_n(out, columns, rest);
    if (l.width_of(panel) == l.width)
      add_panels<1, 2>(a, b + panel * stride, 0, l.depth, rest);
    else
      add_panels<1, 1>(a, b + panel * stride, 0, l.depth, rest);
    std::copy_n(rest, columns, out);
  }
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {

HWY_EXPORT(AddRowProduct);

void add_row_product(const float* a, const PackedMatrix& right, float* c) {
  HWY_DYNAMIC_DISPATCH(AddRowProduct)(a, right.data(), right.layout(), c);
}

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
