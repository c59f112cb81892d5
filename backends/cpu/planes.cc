#include "backends/cpu/planes.h"

#include <algorithm>

#include "backends/cpu/rows.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kGrain = 8192;  // elements below which a second thread costs more than it brings

/// To so many rows of channels.
void apply_to_rows(const Factors& f, int64_t channels, int64_t rows, const float* x, float* y) {
  const Repeated mean(f.mean, channels), a(f.a, channels), b(f.b, channels);
  const int64_t wide = positions_together(channels) * channels, elements = rows * channels;
  for (int64_t at = 0; at < elements; at += wide)
    centred_affine(x + at, y + at, std::min(wide, elements - at), mean.data(), a.data(), b.data());
}

}  // namespace

Expected<Planes> planes_of(const Site& site) {
  const TensorDesc& x = site.desc(0);
  for (const auto& desc : site.in)
    if (desc && desc->dtype != DType::kF32) return Decline{"not float32"};
  if (x.dims.size() < 2) return Decline{"no channels"};
  Planes p{x.dims[0], x.dims[1], 1, x.layout == mlopt::Layout::kChannelsLast};
  for (size_t k = 2; k < x.dims.size(); ++k) p.size *= x.dims[k];
  return p;
}

bool are_by_channel(const Site& site, size_t inputs, int64_t channels, int first) {
  if (site.in.size() != inputs) return false;
  for (int i = first; i < static_cast<int>(site.in.size()); ++i)
    if (!site.has(i) || site.desc(i).dims != Dims{channels}) return false;
  return true;
}

void apply(const Planes& p, const Factors& factors, const float* x, float* y) {
  if (p.channels_last) {
    parallel_for(p.images * p.size, std::max<int64_t>(1, kGrain / p.channels), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end;) {
        const int64_t image = i / p.size, last = std::min(end, (image + 1) * p.size);
        apply_to_rows(factors.of_image(p, image), p.channels, last - i, x + i * p.channels, y + i * p.channels);
        i = last;
      }
    });
    return;
  }
  parallel_for(p.images * p.channels, std::max<int64_t>(1, kGrain / p.size), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Factors f = factors.of_image(p, i / p.channels);
      const int64_t c = i % p.channels;
      centred_affine(x + i * p.size, y + i * p.size, p.size, f.mean[c], f.a[c], f.b[c]);
    }
  });
}

}  // namespace mlopt::cpu
