// Matrix products as they are defined.
#include "backends/gpu/device/function.h"
#include "backends/gpu/device/kernels.h"

namespace mlopt::gpu {

Status product(Queue&, const ProductArgs& args) {
  return by_float(args.type, [&](auto one) -> Status {
    using T = decltype(one);
    for (int64_t batch = 0; batch < args.batch; ++batch) {
      const T* a = static_cast<const T*>(args.a) + batch * args.a_stride;
      const T* b = static_cast<const T*>(args.b) + batch * args.b_stride;
      T* out = static_cast<T*>(args.out) + batch * args.out_stride;
      for (int64_t i = 0; i < args.m; ++i)
        for (int64_t j = 0; j < args.n; ++j) {
          float sum = 0;
          for (int64_t k = 0; k < args.k; ++k)
            sum += widen(a[args.a_transposed ? k * args.m + i : i * args.k + k]) *
                   widen(b[args.b_transposed ? j * args.k + k : k * args.n + j]);
          sum *= args.alpha;
          T& made = out[i * args.n + j];
          if (args.beta != 0) sum += args.beta * widen(made);
          if (args.bias) sum += widen(static_cast<const T*>(args.bias)[j]);
          made = narrow<T>(apply(args.act, sum));
        }
    }
    return nullptr;
  });
}

}  // namespace mlopt::gpu
