#include "backends/reference/rotary.h"

#include <fmt/core.h>

#include "backends/reference/compute.h"
#include "backends/reference/kernels.h"
#include "core/base/error.h"

namespace mlopt::reference {
namespace {

/// The rotation of input 0, [batch, heads, rows, size] or [batch, rows, heads * size].
Rotation read_rotation(const Call& call, const Tensor& x, int64_t cache_width) {
  const NodeView& v = call.view;
  Rotation n;
  n.interleaved = v.get_int("interleaved", 0) != 0;
  n.turned = v.get_int("rotary_embedding_dim", 0);
  if (n.turned == 0) n.turned = 2 * cache_width;
  require(call, x.rank() == 3 || x.rank() == 4, "the input must have rank 3 or 4");
  n.batch = x.dim(0), n.rows = x.dim(x.rank() == 4 ? 2 : 1);
  if (x.rank() == 4) {
    n.heads = x.dim(1), n.size = x.dim(3);
  } else {
    // com.microsoft's may leave out the heads, which are then as wide as the cache.
    n.heads = v.get_int("num_heads", 0);
    if (n.heads == 0 && n.turned > 0) n.heads = x.dim(2) / n.turned;
    require(call, n.heads > 0 && x.dim(2) % n.heads == 0, "the hidden size is not a multiple of num_heads");
    n.size = x.dim(2) / n.heads;
  }
  if (n.turned != 2 * cache_width || n.turned > n.size)
    fail(call, fmt::format("{} elements turned in heads of {} with {} cosines", n.turned, n.size, cache_width));
  return n;
}

/// Rows of the cosine table: one for each position, or without positions one for each row of each sample, or of all
/// samples where the table has one only, as PyTorch's exporter leaves it.
std::vector<int64_t> read_places(const Call& call, const Rotation& n, const Tensor* positions, const Tensor& cosines) {
  const int64_t table =
      cosines.rank() == 0 ? 0 : cosines.size() / std::max<int64_t>(1, cosines.dim(cosines.rank() - 1));
  const int64_t count = n.batch * n.rows;
  const bool shared = cosines.rank() == 3 && cosines.dim(0) == 1;
  std::vector<int64_t> places;
  const std::vector<int64_t> given = positions ? to_ints(*positions) : std::vector<int64_t>();
  const bool start_only = positions && positions->size() == 1 && count != 1;
  if (positions && !start_only && positions->size() != count) fail(call, "position_ids is not [batch, sequence]");
  for (int64_t i = 0; i < count; ++i) {
    const int64_t place = !positions   ? (shared ? i % n.rows : i)
                          : start_only ? given[0] + i % n.rows
                                       : given[static_cast<size_t>(i)];
    if (place < 0 || place >= table) fail(call, fmt::format("position {} in a table of {}", place, table));
    places.push_back(place);
  }
  return places;
}

void rotary_embedding(Call& call, int cosine_input, int position_input) {
  const Tensor x = widened(call.in(0));
  const Tensor cosines = as(call.in(cosine_input), x.dtype()), sines = as(call.in(cosine_input + 1), x.dtype());
  require(call, cosines.rank() >= 2 && cosines.dims() == sines.dims(),
          "the tables of cosines and sines differ in shape");
  const Rotation n = read_rotation(call, x, cosines.dim(cosines.rank() - 1));
  const std::vector<int64_t> places =
      read_places(call, n, call.has(position_input) ? &call.in(position_input) : nullptr, cosines);
  Tensor y(x.dtype(), x.dims());
  with_float(call, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto layout = [&](auto* data) {
      using H = Heads<std::remove_pointer_t<decltype(data)>>;
      return x.rank() == 4 ? H::outside(data, n.heads, n.rows, n.size) : H::inside(data, n.heads, n.rows, n.size);
    };
    rotate<T>(n, layout(x.data<T>()), layout(y.mutable_data<T>()), cosines.data<T>(), sines.data<T>(),
              [&](int64_t b, int64_t r) { return places[static_cast<size_t>(b * n.rows + r)]; });
  });
  call.set(0, as(y, call.in(0).dtype()));
}

void rotary_op(Call& call) { rotary_embedding(call, 1, 3); }

void contrib_rotary_op(Call& call) {
  if (call.view.get_int("is_packed_batching", 0) != 0)
    unsupported_error("rotary embeddings of packed batches cannot be run", call.view.node().label());
  rotary_embedding(call, 2, 1);
}

constexpr Kernel kKernels[] = {
    {"", "RotaryEmbedding", rotary_op},
    {"com.microsoft", "RotaryEmbedding", contrib_rotary_op},
};

}  // namespace

template <class T>
void rotate(const Rotation& n, Heads<const T> x, Heads<T> y, const T* cosines, const T* sines,
            const std::function<int64_t(int64_t, int64_t)>& place) {
  const int64_t half = n.turned / 2;
  for (int64_t b = 0; b < n.batch; ++b) {
    for (int64_t r = 0; r < n.rows; ++r) {
      const T *c = cosines + place(b, r) * half, *s = sines + place(b, r) * half;
      for (int64_t h = 0; h < n.heads; ++h) {
        const T* in = x.of(b, h) + r * x.row;
        T* out = y.of(b, h) + r * y.row;
        for (int64_t i = 0; i < half; ++i) {
          const int64_t first = n.interleaved ? 2 * i : i, second = n.interleaved ? 2 * i + 1 : half + i;
          const T real = in[first], imaginary = in[second];
          out[first] = c[i] * real - s[i] * imaginary;
          out[second] = s[i] * real + c[i] * imaginary;
        }
        for (int64_t i = n.turned; i < n.size; ++i) out[i] = in[i];
      }
    }
  }
}

template void rotate<float>(const Rotation&, Heads<const float>, Heads<float>, const float*, const float*,
                            const std::function<int64_t(int64_t, int64_t)>&);
template void rotate<double>(const Rotation&, Heads<const double>, Heads<double>, const double*, const double*,
                             const std::function<int64_t(int64_t, int64_t)>&);

std::span<const Kernel> rotary_kernels() { return kKernels; }

}  // namespace mlopt::reference
