#include "backends/reference/heads.h"

#include <fmt/core.h>

#include <cmath>

namespace mlopt::reference {
namespace {

/// [a, b, c, rest] as [a, c, b, rest].
Tensor swap_middle(const Call& call, const Tensor& x) {
  const Dims& d = x.dims();
  Tensor out(x.dtype(), {d[0], d[2], d[1], d[3]});
  if (out.size() == 0) return out;
  with_bytes(call, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* in = reinterpret_cast<const T*>(x.raw());
    T* o = reinterpret_cast<T*>(out.mutable_raw());
    for (int64_t a = 0; a < d[0]; ++a)
      for (int64_t b = 0; b < d[1]; ++b)
        for (int64_t c = 0; c < d[2]; ++c, in += d[3]) std::copy_n(in, d[3], o + ((a * d[2] + c) * d[1] + b) * d[3]);
  });
  return out;
}

}  // namespace

Tensor split_heads(const Call& call, const Tensor& x, int64_t heads) {
  if (x.rank() != 3 || heads < 1 || x.dim(2) % heads != 0)
    fail(call, fmt::format("a tensor of shape {} has no {} heads", to_string(x.dims()), heads));
  return swap_middle(call, x.reshaped({x.dim(0), x.dim(1), heads, x.dim(2) / heads}));
}

Tensor append_rows(const Call& call, const Tensor& past, const Tensor& x) {
  Dims dims = past.dims();
  if (dims.size() == 4 && x.rank() == 4) dims[2] = x.dim(2);
  if (dims != x.dims() || past.dtype() != x.dtype())
    fail(call, fmt::format("{} of {} cannot follow {} of {}", to_string(x.dims()), name(x.dtype()),
                           to_string(past.dims()), name(past.dtype())));
  dims[2] = past.dim(2) + x.dim(2);
  Tensor out(x.dtype(), dims);
  if (out.size() == 0) return out;
  const size_t heads = static_cast<size_t>(dims[0] * dims[1]), old_bytes = past.bytes() / heads,
               new_bytes = x.bytes() / heads;
  std::byte* o = out.mutable_raw();
  for (size_t i = 0; i < heads; ++i, o += old_bytes + new_bytes) {
    if (old_bytes > 0) std::memcpy(o, past.raw() + i * old_bytes, old_bytes);
    if (new_bytes > 0) std::memcpy(o + old_bytes, x.raw() + i * new_bytes, new_bytes);
  }
  return out;
}

Tensor stacked(const Call& call, const Tensor& keys, const Tensor& values) {
  require(call, keys.dims() == values.dims() && keys.dtype() == values.dtype(),
          "keys and values differ in shape or type");
  Dims dims = keys.dims();
  dims.insert(dims.begin(), 2);
  Tensor out(keys.dtype(), dims);
  if (out.size() == 0) return out;
  std::memcpy(out.mutable_raw(), keys.raw(), keys.bytes());
  std::memcpy(out.mutable_raw() + keys.bytes(), values.raw(), values.bytes());
  return out;
}

template <class T>
Attend<T> attend_heads(const Call& call, const Tensor& q, const Tensor& k, const Tensor& v, bool merged, Tensor& y) {
  const Dims &dq = q.dims(), &dk = k.dims(), &dv = v.dims();
  const bool ranks = dq.size() == 4 && dk.size() == 4 && dv.size() == 4;
  if (!ranks || dq[0] != dk[0] || dq[0] != dv[0] || dk[1] != dv[1] || dk[2] != dv[2] || dq[3] != dk[3] || dk[1] < 1 ||
      dq[1] % dk[1] != 0)
    fail(call,
         fmt::format("query {}, key {} and value {} do not fit together", to_string(dq), to_string(dk), to_string(dv)));
  Attend<T> a;
  a.batch = dq[0], a.heads = dq[1], a.kv_heads = dk[1], a.queries = dq[2], a.keys = dk[2], a.size = dq[3],
  a.value_size = dv[3];
  a.scale = 1 / std::sqrt(static_cast<double>(a.size));
  a.q = Heads<const T>::outside(q.data<T>(), a.heads, a.queries, a.size);
  a.k = Heads<const T>::outside(k.data<T>(), a.kv_heads, a.keys, a.size);
  a.v = Heads<const T>::outside(v.data<T>(), a.kv_heads, a.keys, a.value_size);
  y = Tensor(q.dtype(), merged ? Dims{a.batch, a.queries, a.heads * a.value_size}
                               : Dims{a.batch, a.heads, a.queries, a.value_size});
  a.y = merged ? Heads<T>::inside(y.mutable_data<T>(), a.heads, a.queries, a.value_size)
               : Heads<T>::outside(y.mutable_data<T>(), a.heads, a.queries, a.value_size);
  return a;
}

template Attend<float> attend_heads(const Call&, const Tensor&, const Tensor&, const Tensor&, bool, Tensor&);
template Attend<double> attend_heads(const Call&, const Tensor&, const Tensor&, const Tensor&, bool, Tensor&);

}  // namespace mlopt::reference
