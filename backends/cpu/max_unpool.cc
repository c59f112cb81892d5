// MaxUnpool of float32: zeros, and each number where its index says. MaxPool leaves the indices of a plane within that
// plane, so threads share the planes; whatever else indices say is done in order.
#include <algorithm>
#include <atomic>

#include "backends/cpu/kernels.h"
#include "backends/cpu/strided.h"
#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/ir/unpooled.h"

namespace mlopt::cpu {
namespace {

struct Unpool {
  int64_t planes, count, size;  ///< numbers of a plane, and pixels of what it becomes

  int64_t pixels() const { return planes * size; }
};

/// One plane of the picture, whose first pixel has the index `begin`. False when an index is not of this plane.
bool fill_plane(const Unpool& u, const float* x, const int64_t* places, int64_t begin, float* picture) {
  std::fill_n(picture, u.size, 0.0f);
  for (int64_t i = 0; i < u.count; ++i) {
    const int64_t place = places[i];
    if (place < begin || place >= begin + u.size) return false;
    picture[place - begin] = x[i];
  }
  return true;
}

/// Wherever the indices lie: the last of several numbers for one pixel stays.
void fill_in_order(const Unpool& u, const float* x, const int64_t* places, float* picture) {
  std::fill_n(picture, u.pixels(), 0.0f);
  for (int64_t i = 0; i < u.planes * u.count; ++i) {
    if (places[i] < 0 || places[i] >= u.pixels()) input_error("an index is outside the output");
    picture[places[i]] = x[i];
  }
}

void unpool(const Unpool& u, const float* x, const int64_t* places, float* picture) {
  constexpr int64_t kGrain = 16384;  // pixels below which a second thread costs more than it brings
  std::atomic<bool> elsewhere = false;
  parallel_for(u.planes, std::max<int64_t>(1, kGrain / u.size), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end && !elsewhere; ++p)
      if (!fill_plane(u, x + p * u.count, places + p * u.count, p * u.size, picture + p * u.size)) elsewhere = true;
  });
  if (elsewhere) fill_in_order(u, x, places, picture);
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc &x = site.desc(0), &places = site.desc(1);
  if (x.dtype != DType::kF32 || places.dtype != DType::kI64) return Decline{"other types"};
  if (places.dims != x.dims || x.size() == 0) return Decline{"indices that do not fit, or nothing"};
  const auto picture = unpooled(site.view, x.dims);
  if (!picture) return picture.error();
  const auto asked = site.view.ints("", 2, *picture);
  if (!asked || asked->size() != picture->size()) return Decline{"output_shape is not constant"};
  for (size_t k = 0; k < picture->size(); ++k)
    if ((*asked)[k] < (*picture)[k]) return Decline{"output_shape is too small"};
  const TensorDesc out{DType::kF32, *asked};
  const int64_t planes = x.dims[0] * x.dims[1];
  const Unpool u{planes, x.size() / planes, element_count(*picture) / planes};
  PlannedStep step{.out = {out}};
  if (site.has(2)) step.packed = {2};
  if (*asked == *picture) {
    step.run = [u](const Buffers& b) { unpool(u, b.in<float>(0), b.in<int64_t>(1), b.out<float>(0)); };
    return step;
  }
  // Indices count the pixels of the picture, not those of what is larger.
  const StridedCopy copy(sizeof(float), *picture, row_major_strides(*picture), row_major_strides(*asked));
  step.scratch_bytes = static_cast<size_t>(u.pixels()) * sizeof(float);
  step.run = [u, copy, all = out.size()](const Buffers& b) {
    unpool(u, b.in<float>(0), b.in<int64_t>(1), reinterpret_cast<float*>(b.scratch));
    std::fill_n(b.out<float>(0), all, 0.0f);
    copy.run(b.scratch, b.out<std::byte>(0));
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "MaxUnpool", .plan = plan}};

}  // namespace

std::span<const Kernel> max_unpool_kernels() { return kKernels; }

}  // namespace mlopt::cpu
