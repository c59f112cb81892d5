#include "backends/gpu/places.h"

#include <algorithm>

namespace mlopt::gpu {

Expected<bool> has_wide_places(const TensorDesc& places) {
  if (places.dtype == DType::kI64) return true;
  if (places.dtype == DType::kI32) return false;
  return Decline{"indices are neither int32 nor int64"};
}

bool fit_beside(const Dims& places, const Dims& x, size_t axis) {
  for (size_t k = 0; k < x.size(); ++k)
    if (k != axis && places[k] > x[k]) return false;
  return true;
}

Expected<TuplesInto> tuples_of(const TensorDesc& x, const TensorDesc& places, int64_t batch) {
  const auto wide = has_wide_places(places);
  if (!wide) return wide.error();
  const auto rank = static_cast<int64_t>(x.dims.size()), index_rank = static_cast<int64_t>(places.dims.size());
  if (rank < 1 || index_rank < 1 || batch < 0 || batch >= std::min(rank, index_rank)) return Decline{"a scalar"};
  const int64_t tuple = places.dims.back();
  if (batch + tuple > rank || tuple > Tuples::kAxes) return Decline{"the indices name more axes than there are"};
  if (!std::equal(x.dims.begin(), x.dims.begin() + batch, places.dims.begin()))
    return Decline{"the batches of indices differ"};
  if (!is_countable(x) || !is_countable(places) || x.size() == 0 || places.size() == 0)
    return Decline{"no elements, or more than kernels count"};
  TuplesInto into{};
  const Dims strides = row_major_strides(x.dims);
  Tuples& t = into.tuples;
  t.wide = *wide;
  t.rank = static_cast<int>(tuple);
  for (int64_t k = 0; k < tuple; ++k) {
    t.lengths[k] = x.dims[static_cast<size_t>(batch + k)];
    t.strides[k] = strides[static_cast<size_t>(batch + k)];
  }
  t.count = places.size() / tuple;
  const int64_t batches = around(x.dims, 0, static_cast<size_t>(batch)).length;
  t.each = t.count / batches;
  t.batch_stride = x.size() / batches;
  into.rest.assign(x.dims.begin() + batch + tuple, x.dims.end());
  return into;
}

}  // namespace mlopt::gpu
