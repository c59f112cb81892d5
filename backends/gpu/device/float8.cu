// Products of floats of 8 bits, and what follows them.
#include "backends/gpu/device/float8.h"
#include "backends/gpu/device/walk.h"

namespace mlopt::gpu {
namespace {

struct Alone {
  Float8ProductArgs args;
  Divider by_n;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t row = by_n.quotient(i), column = i - row * by_n.divisor;
    const uint8_t* a = static_cast<const uint8_t*>(args.a) + row * args.k;
    const uint8_t* x = static_cast<const uint8_t*>(args.x) + column * args.k;
    float sum = 0;
    for (int64_t k = 0; k < args.k; ++k) sum += args.a_type.widen(a[k]) * args.x_type.widen(x[k]);
    args.out[i] = sum;
  }
};

struct End {
  Float8EndArgs args;
  Divider by_n;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t row = by_n.quotient(i), column = i - row * by_n.divisor;
    const float scaled = args.sums[row * args.pitch + column] * (*args.a_scale * args.x_scale[args.each ? column : 0]);
    args.out[i] = args.bias ? scaled + args.bias[column] : scaled;
  }
};

}  // namespace

Status float8_product_alone(Queue& queue, const Float8ProductArgs& args) {
  return for_each(queue, args.m * args.n, Alone{args, Divider(args.n)});
}

Status float8_end(Queue& queue, const Float8EndArgs& args) {
  return for_each(queue, args.m * args.n, End{args, Divider(args.n)});
}

}  // namespace mlopt::gpu
