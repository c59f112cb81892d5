#include "backends/cpu/byte_product.h"

#include <fmt/core.h>

#include <algorithm>

#include "backends/cpu/packed.h"
#include "core/base/align.h"
#include "core/base/parallel.h"
#include "core/exec/weight_cache.h"

namespace mlopt::cpu {
namespace {

/// For each product of the batch, where its matrices begin.
std::vector<std::pair<int64_t, int64_t>> batch_of(const Product& p) {
  const size_t axes = p.out.size() - 2;
  std::vector<std::pair<int64_t, int64_t>> all;
  for (int64_t i = 0; i < element_count(Dims(p.out.begin(), p.out.end() - 2)); ++i) {
    int64_t a = 0, b = 0, a_step = p.m() * p.k(), b_step = p.k() * p.n(), rest = i;
    for (size_t axis = axes; axis-- > 0; rest /= p.out[axis]) {
      const int64_t at = rest % p.out[axis];
      const int64_t a_dim = p.a.size() == p.out.size() ? p.a[axis] : 1,
                    b_dim = p.b.size() == p.out.size() ? p.b[axis] : 1;
      a += a_dim == 1 ? 0 : at * a_step;
      b += b_dim == 1 ? 0 : at * b_step;
      a_step *= a_dim;
      b_step *= b_dim;
    }
    all.emplace_back(a, b);
  }
  return all;
}

bool is_zero(const std::vector<int32_t>& zeros) {
  return std::all_of(zeros.begin(), zeros.end(), [](int32_t z) { return z == 0; });
}

}  // namespace

ByteProduct::ByteProduct(const Product& product, const ByteLeft& left, const ByteRight& right, const Site& site,
                         size_t scratch)
    : product_(product), left_(left), right_(right), scratch_bytes_(scratch) {
  if (!right_.constant || !has_byte_products() || !plan_primitive(site)) plan_tiles(site);
}

size_t ByteProduct::take(size_t bytes) {
  const size_t at = aligned_size(scratch_bytes_);
  scratch_bytes_ = at + aligned_size(bytes);
  return at;
}

bool ByteProduct::plan_primitive(const Site& site) {
  const ByteWeights weights = byte_weights(*right_.constant, right_.zeros);
  const Desc source = plain(*elem_of(left_.type), product_.a), sums = plain(Elem::s32, product_.out);
  dnnl::primitive_attr attr = new_attr();
  attr.set_zero_points_mask(DNNL_ARG_SRC, 0);
  const dnnl::matmul::primitive_desc pd(engine(), source, any(Elem::s8, product_.b), sums, attr, true);
  if (is_slow(pd)) return false;
  const std::string form = right_.swapped ? "onednn rows of bytes" : "onednn columns of bytes";
  const auto packed = shared_weights<Packed>(site.context.weights, *right_.constant, form, [&] {
    return std::make_shared<Packed>(weights.numbers, matrix(Elem::s8, product_.b, right_.swapped));
  });
  zero_at_ = take(sizeof(int32_t));
  sums_at_ = take(sums.get_size() + ByteFinish::kSlack * sizeof(int32_t));
  const Desc zero = plain(Elem::s32, {1});
  Primitive op = Primitive::make<dnnl::matmul>(
      pd,
      {{DNNL_ARG_SRC, source, left_.input < 0 ? Source::scratch(left_.at) : Source::in(left_.input)},
       {DNNL_ARG_WEIGHTS, pd.weights_desc(), Source::of(packed, pd.weights_desc())},
       {DNNL_ARG_DST, sums, Source::scratch(sums_at_)},
       {DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, zero, Source::scratch(zero_at_)}},
      scratch_bytes_);
  scratch_bytes_ = op.scratch_bytes();
  right_.zeros = weights.zeros;
  primitive_ = std::make_shared<const Primitive>(std::move(op));
  return true;
}

void ByteProduct::plan_tiles(const Site& site) {
  const ByteShape shape = ByteShape::product(product_.m(), product_.k(), product_.n());
  batch_ = batch_of(product_);
  if (right_.constant) {
    const std::string form = taps_form(right_.swapped ? "rows" : "columns", right_.zeros);
    packed_ = shared_weights<PackedTaps>(site.context.weights, *right_.constant, form, [&] {
      return std::make_shared<PackedTaps>(shape, *right_.constant, right_.zeros, !right_.swapped);
    });
  } else {
    packed_at_ = take(packed_matrix_bytes(shape));
  }
  conv_ =
      std::make_shared<const ByteConv>(shape, ByteSource{left_.type == DType::kI8}, true, packed_.get(), max_threads());
  conv_at_ = take(conv_->scratch_bytes());
}

void ByteProduct::run(const Buffers& b, int32_t left_zero, int32_t right_zero, const ByteFinish& finish) const {
  if (primitive_) return run_primitive(b, left_zero, finish);
  const ByteShape shape = ByteShape::product(product_.m(), product_.k(), product_.n());
  const PackedView weights = packed_ ? packed_->view() : PackedView{b.scratch + packed_at_};
  ByteFinish own = finish;
  for (size_t i = 0; i < batch_.size(); ++i) {
    const auto [left, right] = batch_[i];
    if (!packed_ && (i == 0 || right != batch_[i - 1].second)) {
      const Bytes numbers{b.in<std::byte>(right_.input) + right, right_.type == DType::kI8};
      pack_matrix(shape, numbers, right_zero, right_.swapped, b.scratch + packed_at_);
    }
    own.out = static_cast<std::byte*>(finish.out) +
              static_cast<int64_t>(i) * product_.m() * product_.n() * finish.element_bytes();
    conv_->run(left_.in(b).at(left), left_zero, weights, own, b.scratch + conv_at_);
  }
}

void ByteProduct::run_primitive(const Buffers& b, int32_t left_zero, const ByteFinish& given) const {
  *reinterpret_cast<int32_t*>(b.scratch + zero_at_) = left_zero;
  primitive_->run(b);
  auto* sums = reinterpret_cast<int32_t*>(b.scratch + sums_at_);
  const int64_t n = product_.n(), rows = element_count(product_.out) / n;
  ByteFinish own = given;
  own.stride = n;
  parallel_for(rows, std::max<int64_t>(1, 32768 / n), [&](int64_t begin, int64_t end) {
    if (!is_zero(right_.zeros))
      for (int64_t row = begin; row < end; ++row) subtract_zeros(left_.in(b), left_zero, sums, row);
    finish(own, sums + begin * n, n, end - begin, 0, n, begin * n);
  });
}

/// The primitive knows no zero points of the right matrix: sum (a - a0)(b - b0) = sum (a - a0) b - b0 sum (a - a0).
void ByteProduct::subtract_zeros(Bytes left, int32_t left_zero, int32_t* sums, int64_t row) const {
  const int64_t k = product_.k(), n = product_.n();
  const auto total = static_cast<int32_t>(sum(left.at(row * k), k) - k * left_zero);
  for (int64_t i = 0; i < n; ++i) sums[row * n + i] -= at(right_.zeros, i) * total;
}

}  // namespace mlopt::cpu
