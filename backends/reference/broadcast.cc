#include "backends/reference/broadcast.h"

namespace mlopt::reference {

Dims broadcast_dims(const Call& call, const std::vector<Dims>& shapes) {
  Dims out;
  try {
    for (const Dims& dims : shapes) out = broadcast(out, dims);
  } catch (const Error& error) {
    fail(call, error.message + ": " + error.where);
  }
  element_count(out);
  return out;
}

Tensor expanded(const Call& call, const Tensor& tensor, const Dims& dims) {
  if (tensor.dims() == dims) return tensor;
  if (broadcast_dims(call, {tensor.dims(), dims}) != dims)
    fail(call, to_string(tensor.dims()) + " does not broadcast to " + to_string(dims));
  Tensor out(tensor.dtype(), dims);
  with_bytes(call, tensor.dtype(), [&](auto tag) {
    using T = decltype(tag);
    const T* from = reinterpret_cast<const T*>(tensor.raw());
    T* to = reinterpret_cast<T*>(out.mutable_raw());
    Broadcast<1>(dims, {tensor.dims()}).for_runs([&](int64_t start, int64_t count, const auto& at, const auto& step) {
      for (int64_t i = 0; i < count; ++i) to[start + i] = from[at[0] + i * step[0]];
    });
  });
  return out;
}

}  // namespace mlopt::reference
