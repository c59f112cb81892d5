// Matrix products as they are defined.
#include <algorithm>
#include <vector>

#include "backends/gpu/device/function.h"
#include "backends/gpu/device/kernels.h"

namespace mlopt::gpu {
namespace {

/// sums = a row of a times b, each sum in the order of k; b as it lies in memory is walked row by row.
template <class T>
void multiply_row(const ProductArgs& args, const T* a, int64_t step, const T* b, std::vector<float>& sums) {
  std::fill(sums.begin(), sums.end(), 0.0f);
  if (args.b_transposed) {
    for (int64_t j = 0; j < args.n; ++j)
      for (int64_t k = 0; k < args.k; ++k)
        sums[static_cast<size_t>(j)] += widen(a[k * step]) * widen(b[j * args.k + k]);
    return;
  }
  for (int64_t k = 0; k < args.k; ++k) {
    const float left = widen(a[k * step]);
    for (int64_t j = 0; j < args.n; ++j) sums[static_cast<size_t>(j)] += left * widen(b[k * args.n + j]);
  }
}

}  // namespace

Status product(Queue&, const ProductArgs& args) {
  return by_float(args.type, [&](auto one) -> Status {
    using T = decltype(one);
    std::vector<float> sums(static_cast<size_t>(args.n));
    for (int64_t batch = 0; batch < args.batch; ++batch) {
      const T* a = static_cast<const T*>(args.a) + batch * args.a_stride;
      const T* b = static_cast<const T*>(args.b) + batch * args.b_stride;
      T* out = static_cast<T*>(args.out) + batch * args.out_stride;
      for (int64_t i = 0; i < args.m; ++i) {
        multiply_row(args, args.a_transposed ? a + i : a + i * args.k, args.a_transposed ? args.m : 1, b, sums);
        for (int64_t j = 0; j < args.n; ++j) {
          float sum = sums[static_cast<size_t>(j)] * args.alpha;
          if (args.wide_out) {
            float& wide = static_cast<float*>(args.out)[batch * args.out_stride + i * args.n + j];
            wide = args.beta != 0 ? sum + args.beta * wide : sum;
            continue;
          }
          T& made = out[i * args.n + j];
          if (args.beta != 0) sum += args.beta * widen(made);
          if (args.bias) sum += widen(static_cast<const T*>(args.bias)[j]);
          made = narrow<T>(apply(args.act, sum));
        }
      }
    }
    return nullptr;
  });
}

Status codes_product(Queue& queue, const CodesProductArgs& args) { return codes_product_in_tiles(queue, args); }

Status float8_product(Queue& queue, const Float8ProductArgs& args) { return float8_product_alone(queue, args); }

}  // namespace mlopt::gpu
