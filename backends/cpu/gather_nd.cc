// GatherND: tuples of indices name the blocks to take.
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

  /// The block that tuple i names.
  int64_t at(const int64_t* tuples, int64_t i) const {
    const size_t n = lengths.size();
    const int64_t* tuple = tuples + i * static_cast<int64_t>(n);
    int64_t block = i / each * data.length;
    for (size_t k = 0; k < n; ++k) block += place_on_axis(tuple[k], lengths[k]) * strides[k];
    return block;
  }
};

template <class T>
void take(const Blocks& b, const T* data, const int64_t* tuples, T* out) {
  constexpr int64_t kGrain = 65536;  // bytes below which a second thread costs more than it brings
  const int64_t bytes = b.data.inner * static_cast<int64_t>(sizeof(T));
  parallel_for(b.count, std::max<int64_t>(1, kGrain / (bytes + 8)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* from = data + b.at(tuples, i) * b.data.inner;
      if (b.data.inner == 1)
        out[i] = *from;
      else
        std::memcpy(out + i * b.data.inner, from, static_cast<size_t>(bytes));
    }
  });
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc &x = site.desc(0), &indices = site.desc(1);
  const auto width = element_bytes(x.dtype);
  if (!width || indices.dtype != DType::kI64 || indices.dims.empty()) return Decline{"not these types"};
  const int64_t batch_axes = site.view.get_int("batch_dims", 0), n = indices.dims.back();
  if (batch_axes < 0 || batch_axes >= static_cast<int64_t>(indices.dims.size()) || n < 1 ||
      batch_axes + n > static_cast<int64_t>(x.dims.size()))
    return Decline{"the tuples do not fit"};
  const auto first = static_cast<size_t>(batch_axes), last = first + static_cast<size_t>(n);
  if (!std::equal(x.dims.begin(), x.dims.begin() + batch_axes, indices.dims.begin()))
    return Decline{"the batches differ"};
  if (x.size() == 0 || indices.size() == 0) return Decline{"nothing"};
  Blocks b{{x.dims.begin() + batch_axes, x.dims.begin() + batch_axes + n}, {}, around(x.dims, first, last), 0, 0};
  b.strides = row_major_strides(b.lengths);
  b.count = indices.size() / n;
  b.each = b.count / b.data.outer;
  TensorDesc out{x.dtype, Dims(indices.dims.begin(), indices.dims.end() - 1)};
  out.dims.insert(out.dims.end(), x.dims.begin() + static_cast<std::ptrdiff_t>(last), x.dims.end());
  PlannedStep step{.out = {std::move(out)}};
  step.run = [b, width = *width](const Buffers& buffers) {
    by_width(width, [&](auto sample) {
      using T = decltype(sample);
      take(b, buffers.in<T>(0), buffers.in<int64_t>(1), buffers.out<T>(0));
    });
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "GatherND", .plan = plan}};

}  // namespace

std::span<const Kernel> gather_nd_kernels() { return kKernels; }

}  // namespace mlopt::cpu
