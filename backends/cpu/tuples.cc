// GatherND and ScatterND: tuples of indices name the blocks to take, or to fill.
#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels.h"
#include "backends/cpu/middle.h"
#include "backends/cpu/places.h"
#include "backends/cpu/strided.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

struct Blocks {
  Dims lengths, strides;  ///< of the axes that a tuple names, in blocks
  Middle data;            ///< batches, the blocks of one, and the elements of a block
  int64_t count, each;    ///< tuples, of all batches and of one

  /// The block that tuple i, of N indices, names.
  template <size_t N>
  int64_t at(const int64_t* tuples, int64_t i) const {
    const int64_t* tuple = tuples + i * static_cast<int64_t>(N);
    int64_t block = data.outer == 1 ? 0 : i / each * data.length;
    for (size_t k = 0; k < N; ++k) block += place_on_axis(tuple[k], lengths[k]) * strides[k];
    return block;
  }
};

constexpr size_t kMostIndices = 8;

/// Calls what(index_constant) with the number of indices in a tuple, so that no loop over them is left.
template <size_t N = 1, class Fn>
void by_length(const Blocks& b, const Fn& what) {
  if (b.lengths.size() == N) return what(std::integral_constant<size_t, N>());
  if constexpr (N < kMostIndices) by_length<N + 1>(b, what);
}

template <size_t N, class T>
void take(const Blocks& b, const T* data, const int64_t* tuples, T* out) {
  constexpr int64_t kGrain = 65536;  // bytes below which a second thread costs more than it brings
  const int64_t bytes = b.data.inner * static_cast<int64_t>(sizeof(T));
  parallel_for(b.count, std::max<int64_t>(1, kGrain / (bytes + 8)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* from = data + b.at<N>(tuples, i) * b.data.inner;
      if (b.data.inner == 1)
        out[i] = *from;
      else
        std::memcpy(out + i * b.data.inner, from, static_cast<size_t>(bytes));
    }
  });
}

/// The last one of those that fill the same block stays.
template <size_t N, class T>
void fill(const Blocks& b, const T* updates, const int64_t* tuples, T* out) {
  const int64_t inner = b.data.inner;
  for (int64_t i = 0; i < b.count; ++i) {
    T* to = out + b.at<N>(tuples, i) * inner;
    if (inner == 1)
      *to = updates[i];
    else
      std::memcpy(to, updates + i * inner, static_cast<size_t>(inner) * sizeof(T));
  }
}

/// What tuples name behind so many axes of the batch.
Expected<Blocks> blocks_of(const TensorDesc& x, const TensorDesc& indices, int64_t batch_axes) {
  if (!element_bytes(x.dtype) || indices.dtype != DType::kI64 || indices.dims.empty())
    return Decline{"not these types"};
  const int64_t n = indices.dims.back();
  if (n > static_cast<int64_t>(kMostIndices)) return Decline{"the tuples are long"};
  if (batch_axes < 0 || batch_axes >= static_cast<int64_t>(indices.dims.size()) || n < 1 ||
      batch_axes + n > static_cast<int64_t>(x.dims.size()))
    return Decline{"the tuples do not fit"};
  if (!std::equal(x.dims.begin(), x.dims.begin() + batch_axes, indices.dims.begin()))
    return Decline{"the batches differ"};
  if (x.size() == 0 || indices.size() == 0) return Decline{"nothing"};
  const auto first = static_cast<size_t>(batch_axes), last = first + static_cast<size_t>(n);
  Blocks b{{x.dims.begin() + batch_axes, x.dims.begin() + batch_axes + n}, {}, around(x.dims, first, last), 0, 0};
  b.strides = row_major_strides(b.lengths);
  b.count = indices.size() / n;
  b.each = b.count / b.data.outer;
  return b;
}

/// Of all blocks that the tuples name.
Dims dims_of(const TensorDesc& x, const TensorDesc& indices, int64_t batch_axes) {
  Dims dims(indices.dims.begin(), indices.dims.end() - 1);
  dims.insert(dims.end(), x.dims.begin() + batch_axes + indices.dims.back(), x.dims.end());
  return dims;
}

Expected<PlannedStep> plan_gather(const Site& site) {
  const TensorDesc &x = site.desc(0), &indices = site.desc(1);
  const int64_t batch_axes = site.view.get_int("batch_dims", 0);
  const auto b = blocks_of(x, indices, batch_axes);
  if (!b) return b.error();
  PlannedStep step{.out = {{x.dtype, dims_of(x, indices, batch_axes)}}};
  step.run = [b = *b, width = *element_bytes(x.dtype)](const Buffers& buffers) {
    by_width(width, [&](auto sample) {
      using T = decltype(sample);
      by_length(b, [&](auto n) { take<n>(b, buffers.in<T>(0), buffers.in<int64_t>(1), buffers.out<T>(0)); });
    });
  };
  return step;
}

Expected<PlannedStep> plan_scatter(const Site& site) {
  const TensorDesc &x = site.desc(0), &indices = site.desc(1), &updates = site.desc(2);
  if (site.view.get_string("reduction", "none") != "none") return Decline{"it does not only fill"};
  const auto b = blocks_of(x, indices, 0);
  if (!b) return b.error();
  if (updates.dtype != x.dtype || updates.dims != dims_of(x, indices, 0)) return Decline{"the updates do not fit"};
  PlannedStep step{.out = {x}};
  step.in_place = 0;
  step.run = [b = *b, width = *element_bytes(x.dtype), count = static_cast<size_t>(x.size())](const Buffers& buffers) {
    by_width(width, [&](auto sample) {
      using T = decltype(sample);
      T* out = buffers.out<T>(0);
      if (out != buffers.in<T>(0)) std::memcpy(out, buffers.in<T>(0), count * sizeof(T));
      by_length(b, [&](auto n) { fill<n>(b, buffers.in<T>(2), buffers.in<int64_t>(1), out); });
    });
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "GatherND", .plan = plan_gather},
    {.domain = "", .op = "ScatterND", .plan = plan_scatter},
};

}  // namespace

std::span<const Kernel> tuples_kernels() { return kKernels; }

}  // namespace mlopt::cpu
