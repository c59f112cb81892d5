// GatherND: tuples of indices name the blocks to take.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/cpu/strided.h"
#include "core/base/error.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

struct Blocks {
  Dims lengths, strides;  ///< of the axes that a tuple names, in blocks
  int64_t count;          ///< tuples
  int64_t each;           ///< of one batch
  int64_t batch;          ///< blocks of the data in one
  int64_t elements;       ///< of a block

  /// The block that tuple i names.
  int64_t at(const int64_t* tuples, int64_t i) const {
    const auto n = static_cast<int64_t>(lengths.size());
    int64_t block = i / each * batch;
    for (int64_t k = 0; k < n; ++k) {
      const int64_t index = tuples[i * n + k], length = lengths[static_cast<size_t>(k)];
      const int64_t place = index < 0 ? index + length : index;
      if (place < 0 || place >= length)
        input_error(fmt::format("index {} is outside an axis of {} elements", index, length));
      block += place * strides[static_cast<size_t>(k)];
    }
    return block;
  }
};

template <class T>
void take(const Blocks& b, const T* data, const int64_t* tuples, T* out) {
  constexpr int64_t kGrain = 65536;  // bytes below which a second thread costs more than it brings
  const int64_t bytes = b.elements * static_cast<int64_t>(sizeof(T));
  parallel_for(b.count, std::max<int64_t>(1, kGrain / (bytes + 8)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* from = data + b.at(tuples, i) * b.elements;
      if (b.elements == 1)
        out[i] = *from;
      else
        std::memcpy(out + i * b.elements, from, static_cast<size_t>(bytes));
    }
  });
}

int64_t product(const Dims& dims, size_t begin, size_t end) {
  int64_t size = 1;
  for (size_t k = begin; k < end; ++k) size *= dims[k];
  return size;
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
  const size_t rank = x.dims.size();
  Blocks b{};
  for (size_t k = first; k < last; ++k) {
    b.lengths.push_back(x.dims[k]);
    b.strides.push_back(product(x.dims, k + 1, last));
  }
  b.count = indices.size() / n;
  b.each = b.count / product(x.dims, 0, first);
  b.batch = product(x.dims, first, last);
  b.elements = product(x.dims, last, rank);
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
