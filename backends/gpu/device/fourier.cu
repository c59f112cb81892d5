#include "backends/gpu/device/fourier.h"
#include "backends/gpu/device/walk.h"

namespace mlopt::gpu {
namespace {

template <class T>
struct Dft {
  DftArgs args;
  Divider by_inner, by_out;

  /// Number j of the line at x.
  MLOPT_DEVICE void read(const T* x, int64_t j, double& real, double& imaginary) const {
    const T* at = x + j * args.inner * args.in_parts;
    real = widen(at[0]);
    imaginary = args.in_parts == 2 ? widen(at[1]) : 0.0;
  }

  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t row = by_inner.quotient(i), o = by_out.quotient(row);
    const int64_t k = row - o * by_out.divisor, inner = i - row * by_inner.divisor;
    const T* x = static_cast<const T*>(args.in) + (o * args.in_count * args.inner + inner) * args.in_parts;
    const int64_t half = args.mirrored ? args.length / 2 + 1 : args.length;
    const int64_t given = args.in_count < half ? args.in_count : half;
    double real = 0, imaginary = 0;
    for (int64_t j = 0; j < given; ++j) {
      double re = 0, im = 0;
      read(x, j, re, im);
      const double* turn = args.turns + 2 * (j * k % args.length);
      const double made = re * turn[0] - im * turn[1];
      real += args.mirrored && j > 0 && j < args.length - j ? 2 * made : made;
      imaginary += re * turn[1] + im * turn[0];
    }
    const double scale = args.inverse ? 1.0 / static_cast<double>(args.length) : 1.0;
    T* y = static_cast<T*>(args.out) + static_cast<int64_t>(i) * args.out_parts;
    y[0] = narrow<T>(static_cast<float>(real * scale));
    if (args.out_parts == 2) y[1] = narrow<T>(static_cast<float>(imaginary * scale));
  }
};

}  // namespace

Status dft(Queue& queue, const DftArgs& args) {
  return by_float(args.type, [&](auto one) {
    return for_each(queue, args.outer * args.out_count * args.inner,
                    Dft<decltype(one)>{args, Divider(args.inner), Divider(args.out_count)});
  });
}

}  // namespace mlopt::gpu
