#include "backends/cpu/byte_product.h"

#include <algorithm>
#include <cmath>

#include "backends/cpu/rows.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kGrain = 32768;  // elements below which a second thread costs more than it brings

using Pd = dnnl::matmul::primitive_desc;

/// Stored numbers as float32, without their zero point.
Memory widened(const LeftMatrix& m, const Desc& desc, Workspace& space) {
  Memory wide = space.memory(desc);
  auto* numbers = static_cast<float*>(wide.get_data_handle());
  const auto count = static_cast<int64_t>(desc.get_size() / sizeof(float));
  parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
    dequantize(m.numbers.at(begin), numbers + begin, end - begin, 1, m.zero);
  });
  return wide;
}

}  // namespace

Expected<ByteProduct> ByteProduct::plan_bytes(const Product& product, DType left, RightMatrix& right, Elem sums) {
  ByteProduct p;
  p.product_ = product;
  p.source_ = plain(*elem_of(left), product.a);
  p.sums_ = plain(sums, product.out);
  dnnl::primitive_attr attr = new_attr();
  attr.set_zero_points_mask(DNNL_ARG_SRC, 0);
  const Pd pd(engine(), p.source_, any(Elem::s8, product.b), p.sums_, attr, true);
  if (is_slow(pd)) return Decline{"oneDNN has only a plain loop for it"};
  if (!right.bytes)
    right.bytes = std::make_shared<Packed>(right.weights.numbers, matrix(Elem::s8, product.b, right.swapped));
  p.weights_ = right.bytes->as(pd.weights_desc());
  p.op_ = Op::make<dnnl::matmul>(pd);
  if (!right.weights.symmetric())
    for (int64_t n = 0; n < product.n(); ++n) p.right_zeros_.push_back(static_cast<float>(at(right.weights.zeros, n)));
  return p;
}

Expected<ByteProduct> ByteProduct::plan_floats(const Product& product, RightMatrix* right) {
  ByteProduct p;
  p.product_ = product;
  p.widens_ = true;
  p.source_ = plain(Elem::f32, product.a);
  p.sums_ = plain(Elem::f32, product.out);
  p.right_ = plain(Elem::f32, product.b);
  const Pd pd(engine(), p.source_, right ? any(Elem::f32, product.b) : p.right_, p.sums_, new_attr(), true);
  if (is_slow(pd)) return Decline{"oneDNN has only a plain loop for it"};
  if (right && !right->floats)
    right->floats =
        std::make_shared<Packed>(centred(right->weights.numbers, right->weights.zeros, right->swapped ? 0 : 1),
                                 matrix(Elem::f32, product.b, right->swapped));
  if (right) p.weights_ = right->floats->as(pd.weights_desc());
  p.op_ = Op::make<dnnl::matmul>(pd);
  return p;
}

Expected<ByteProduct> ByteProduct::plan(const Product& product, DType left, RightMatrix& right) {
  if (right.weights.exact_with(left, right.swapped ? 0 : 1))
    if (auto p = plan_bytes(product, left, right, Elem::f32)) return p;
  return plan_floats(product, &right);
}

Expected<ByteProduct> ByteProduct::plan(const Product& product) { return plan_floats(product, nullptr); }

Expected<ByteProduct> ByteProduct::plan_exact(const Product& product, DType left, RightMatrix& right) {
  if (right.weights.exact_with(left, right.swapped ? 0 : 1) && right.weights.symmetric())
    if (auto p = plan_bytes(product, left, right, Elem::s32)) return p;
  constexpr int64_t kExact = int64_t{1} << 24, kLargest = 255 * 255;
  if (product.k() > kExact / kLargest) return Decline{"sums may be larger than float32 holds"};
  auto p = plan_floats(product, &right);
  if (p) p->rounds_ = true;
  return p;
}

void ByteProduct::run(const LeftMatrix& a, const LeftMatrix& b, void* sums, Workspace& space) const {
  const Memory out(sums_, engine(), sums);
  if (widens_) {
    const Memory left = widened(a, source_, space), right = weights_ ? weights_ : widened(b, right_, space);
    op_.run({{DNNL_ARG_SRC, left}, {DNNL_ARG_WEIGHTS, right}, {DNNL_ARG_DST, out}}, space);
    if (rounds_) round_sums(sums);
    return;
  }
  const Memory left(source_, engine(), const_cast<void*>(a.numbers.data));  // primitives only read it
  const Memory zero = space.memory(plain(Elem::s32, {1}));
  *static_cast<int32_t*>(zero.get_data_handle()) = a.zero;
  op_.run({{DNNL_ARG_SRC, left},
           {DNNL_ARG_WEIGHTS, weights_},
           {DNNL_ARG_DST, out},
           {DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, zero}},
          space);
  if (!right_zeros_.empty()) subtract_zeros(a, static_cast<float*>(sums));
}

/// The primitive knows no zero points of the right matrix: sum (a - a0)(b - b0) = sum (a - a0) b - b0 sum (a - a0).
void ByteProduct::subtract_zeros(const LeftMatrix& a, float* sums) const {
  const int64_t k = product_.k(), n = product_.n(), rows = element_count(product_.out) / n;
  parallel_for(rows, std::max<int64_t>(1, kGrain / (k + n)), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t total = sum(a.numbers.at(row * k), k) - k * a.zero;
      add_scaled(sums + row * n, right_zeros_.data(), n, -static_cast<float>(total));
    }
  });
}

void ByteProduct::round_sums(void* sums) const {
  auto* bytes = static_cast<char*>(sums);
  for (int64_t i = 0; i < element_count(product_.out); ++i) {
    float value;
    std::memcpy(&value, bytes + i * 4, sizeof value);
    const auto whole = static_cast<int32_t>(std::lrint(value));
    std::memcpy(bytes + i * 4, &whole, sizeof whole);
  }
}

}  // namespace mlopt::cpu
