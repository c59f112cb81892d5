// The gradients of LayerNormalization and RMSNormalization: with n the normalized row and g = dy scale,
// dx = (g - mean of g - n mean of (g n)) / deviation, where the first mean is there if the row was centered.
#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels.h"
#include "backends/cpu/middle.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/targets.h"
#include "core/base/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/layer_norm_grad.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

HWY_INLINE double total(V lanes) { return static_cast<double>(hn::GetLane(hn::SumOfLanes(F(), lanes))); }

/// sums: of the squared distances from the mean, of g, and of g times the distance.
void SumRow(const float* x, const float* dy, const float* scale, int64_t n, float mean, double* sums) {
  constexpr int64_t kBlock = 4096;  // whose sums are in single precision
  for (int64_t first = 0; first < n; first += kBlock) {
    V squares = constant(0), grads = squares, products = squares;
    each_vector(first, std::min(n, first + kBlock), [&](int64_t i, size_t count) HWY_ATTR {
      const V g = hn::Mul(load_n(dy + i, count), load_n(scale + i, count));
      V away = hn::Sub(load_n(x + i, count), constant(mean));
      if (count < hn::Lanes(F())) away = hn::IfThenElseZero(hn::FirstN(F(), count), away);
      squares = hn::MulAdd(away, away, squares);
      grads = hn::Add(grads, g);
      products = hn::MulAdd(g, away, products);
    });
    sums[0] += total(squares), sums[1] += total(grads), sums[2] += total(products);
  }
}

/// dx = inverse (g - shared - along n); dscale += dy n, dbias += dy.
void GradRow(const float* x, const float* dy, const float* scale, int64_t n, float mean, float inverse, float shared,
             float along, float* dx, float* dscale, float* dbias) {
  const V m = constant(mean), f = constant(inverse), s = constant(shared), a = constant(along);
  each_vector(0, n, [&](int64_t i, size_t count) HWY_ATTR {
    const V grad = load_n(dy + i, count), normal = hn::Mul(hn::Sub(load_n(x + i, count), m), f);
    store_n(hn::MulAdd(grad, normal, load_n(dscale + i, count)), dscale + i, count);
    store_n(hn::Add(grad, load_n(dbias + i, count)), dbias + i, count);
    const V inner = hn::NegMulAdd(a, normal, hn::Sub(hn::Mul(grad, load_n(scale + i, count)), s));
    store_n(hn::Mul(f, inner), dx + i, count);
  });
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {
namespace {

HWY_EXPORT(SumRow);
HWY_EXPORT(GradRow);

struct Norm {
  int64_t rows, row;
  int64_t parts;  ///< whose dscale and dbias are summed apart, however many threads there are
  bool centered;
  double epsilon;
};

/// `sums`: dscale and dbias, a row each.
void grad_row(const Norm& norm, const float* x, const float* dy, const float* scale, float* dx, float* sums) {
  const auto count = static_cast<double>(norm.row);
  const float mean = norm.centered ? fold_row(Fold::kSum, x, norm.row) / static_cast<float>(norm.row) : 0.0f;
  double s[3] = {};
  HWY_DYNAMIC_DISPATCH(SumRow)(x, dy, scale, norm.row, mean, s);
  const double inverse = 1 / std::sqrt(s[0] / count + norm.epsilon);
  const double shared = norm.centered ? s[1] / count : 0, along = s[2] * inverse / count;
  HWY_DYNAMIC_DISPATCH(GradRow)
  (x, dy, scale, norm.row, mean, static_cast<float>(inverse), static_cast<float>(shared), static_cast<float>(along), dx,
   sums, sums + norm.row);
}

void run(const Norm& norm, const Buffers& b) {
  auto* sums = reinterpret_cast<float*>(b.scratch);
  parallel_for(norm.parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      float* own = sums + part * 2 * norm.row;
      std::fill_n(own, 2 * norm.row, 0.0f);
      const int64_t past = norm.rows * (part + 1) / norm.parts * norm.row;
      for (int64_t at = norm.rows * part / norm.parts * norm.row; at < past; at += norm.row)
        grad_row(norm, b.in<float>(0) + at, b.in<float>(1) + at, b.in<float>(2), b.out<float>(0) + at, own);
    }
  });
  for (int64_t part = 1; part < norm.parts; ++part) fold(Fold::kSum, sums, sums + part * 2 * norm.row, 2 * norm.row);
  std::copy_n(sums, norm.row, b.out<float>(1));
  std::copy_n(sums + norm.row, norm.row, b.out<float>(2));
}

Expected<PlannedStep> plan(const Site& site) {
  constexpr int64_t kRows = 8, kMostParts = 16;  // of a part, at least
  const TensorDesc &x = site.desc(0), &dy = site.desc(1), &scale = site.desc(2);
  if (x.dtype != DType::kF32 || dy.dtype != DType::kF32 || scale.dtype != DType::kF32 || x.dims != dy.dims)
    return Decline{"not float32, or dy does not fit"};
  if (x.dims.empty()) return Decline{"a scalar"};
  const auto axis = normalize_axis(site.view.get_int("axis", -1), static_cast<int64_t>(x.dims.size()));
  const int64_t row = around(x.dims, static_cast<size_t>(axis), x.dims.size()).length, rows = x.size() / row;
  if (scale.size() != row) return Decline{"the scale does not fit"};
  const Norm norm{rows, row, std::clamp<int64_t>(rows / kRows, 1, kMostParts), site.view.get_int("centered", 1) != 0,
                  static_cast<double>(site.view.get_float("epsilon", 1e-5f))};
  PlannedStep step{.out = {dy, scale, scale}};
  step.in_place = 1;
  step.scratch_bytes = static_cast<size_t>(norm.parts * 2 * row) * sizeof(float);
  step.run = [norm](const Buffers& b) { run(norm, b); };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "mlopt", .op = "LayerNormGrad", .plan = plan}};

}  // namespace

std::span<const Kernel> layer_norm_grad_kernels() { return kKernels; }

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
