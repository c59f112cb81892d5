#include <fmt/core.h>

#include "backends/reference/compute.h"
#include "backends/reference/fft.h"
#include "backends/reference/kernels.h"
#include "core/base/parallel.h"

namespace mlopt::reference {
namespace {

// A transform longer than this is taken for a mistake.
constexpr int64_t kLongest = int64_t{1} << 24;

/// Where a row of complex (or real, with `parts` 1) numbers lies in a tensor [..., axis, ..., parts].
struct Line {
  int64_t parts, stride;  ///< numbers are stride * parts apart
};

template <class S, class T>
std::complex<S> read(const T* at, const Line& line, int64_t i) {
  const T* number = at + i * line.stride * line.parts;
  return {number[0], line.parts == 2 ? number[1] : T{0}};
}

template <class S, class T>
void write(T* at, const Line& line, int64_t i, std::complex<S> value) {
  T* number = at + i * line.stride * line.parts;
  number[0] = static_cast<T>(value.real());
  if (line.parts == 2) number[1] = static_cast<T>(value.imag());
}

struct Dft {
  int64_t length;  ///< of the transform
  bool inverse, onesided;
  int64_t in, out;  ///< numbers along the axis
  int64_t in_parts, out_parts;
};

/// Sums in type S, reads and writes type T.
template <class S, class T>
Tensor transform_in(const Tensor& x, const Dft& dft, const AxisView& view, const Dims& dims) {
  Tensor y(x.dtype(), dims);
  const FourierTransform<S> fourier(static_cast<size_t>(dft.length), dft.inverse);
  const T* in = x.data<T>();
  T* out = y.mutable_data<T>();
  const Line from{dft.in_parts, view.inner}, to{dft.out_parts, view.inner};
  const S scale = dft.inverse ? S{1} / static_cast<S>(dft.length) : S{1};
  const bool mirrored = dft.inverse && dft.onesided;
  const int64_t given = std::min(dft.in, mirrored ? dft.length / 2 + 1 : dft.length);
  parallel_for(view.outer * view.inner, std::max<int64_t>(1, 4096 / dft.length), [&](int64_t begin, int64_t end) {
    std::vector<std::complex<S>> line(static_cast<size_t>(dft.length));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t outer = i / view.inner, inner = i % view.inner;
      std::fill(line.begin(), line.end(), std::complex<S>{});
      for (int64_t j = 0; j < given; ++j) {
        const std::complex<S> value = read<S>(in + (outer * dft.in * view.inner + inner) * dft.in_parts, from, j);
        line[static_cast<size_t>(j)] = value;
        // The half that a one-sided spectrum leaves out is the mirror image of what it has.
        if (mirrored && j > 0) line[static_cast<size_t>(dft.length - j)] = std::conj(value);
      }
      fourier(line);
      for (int64_t j = 0; j < dft.out; ++j)
        write(out + (outer * dft.out * view.inner + inner) * dft.out_parts, to, j,
              line[static_cast<size_t>(j)] * scale);
    }
  });
  return y;
}

/// A real signal is transformed in double: rounding would leave imaginary parts where its spectrum has none.
template <class T>
Tensor transform(const Tensor& x, const Dft& dft, const AxisView& view, const Dims& dims) {
  return dft.in_parts == 1 ? transform_in<double, T>(x, dft, view, dims) : transform_in<T, T>(x, dft, view, dims);
}

Dft read_dft(const Call& call, const Dims& dims, int axis) {
  Dft dft;
  dft.inverse = call.view.get_int("inverse", 0) != 0;
  dft.onesided = call.view.get_int("onesided", 0) != 0;
  dft.in = dims[static_cast<size_t>(axis)];
  dft.in_parts = dims.back();
  const bool to_real = dft.inverse && dft.onesided;
  dft.length = int_in(call, 1, to_real ? 2 * (dft.in - 1) : dft.in);
  if (dft.length < 1 || dft.length > kLongest) fail(call, fmt::format("a transform of length {}", dft.length));
  require(call, !dft.onesided || dft.inverse || dft.in_parts == 1, "a one-sided spectrum needs real input");
  dft.out = dft.onesided && !dft.inverse ? dft.length / 2 + 1 : dft.length;
  dft.out_parts = to_real ? 1 : 2;
  return dft;
}

void dft_op(Call& call) {
  const Tensor x = widened(call.in(0));
  require(call, x.rank() >= 2 && (x.dim(x.rank() - 1) == 1 || x.dim(x.rank() - 1) == 2),
          "the last axis must hold 1 or 2 parts");
  const int64_t given = call.view.opset() < 20 ? call.view.get_int("axis", 1) : int_in(call, 2, -2);
  const int axis = axis_of(call, given, x.rank());
  require(call, axis != x.rank() - 1, "the last axis holds the parts of numbers and is not transformed");
  const Dft dft = read_dft(call, x.dims(), axis);
  Dims dims = x.dims();
  dims[static_cast<size_t>(axis)] = dft.out;
  dims.back() = dft.out_parts;
  AxisView view = around_axis(x.dims(), axis);
  view.inner /= dft.in_parts;
  with_float(call, x.dtype(),
             [&](auto zero) { call.set(0, as(transform<decltype(zero)>(x, dft, view, dims), call.in(0).dtype())); });
}

/// Frames of the signal times the window, one below the other: [batch, frames, length, parts].
template <class T>
Tensor windowed_frames(const Tensor& x, const Tensor* window, int64_t frames, int64_t step, int64_t length,
                       int64_t parts) {
  const int64_t batch = x.dim(0), samples = x.dim(1);
  Tensor out(x.dtype(), {batch, frames, length, parts});
  const T* in = x.data<T>();
  const T* factor = window ? window->data<T>() : nullptr;
  T* o = out.mutable_data<T>();
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t f = 0; f < frames; ++f)
      for (int64_t i = 0; i < length; ++i)
        for (int64_t p = 0; p < parts; ++p)
          *o++ = in[(b * samples + f * step + i) * parts + p] * (factor ? factor[i] : T{1});
  return out;
}

void stft_op(Call& call) {
  const Tensor x = widened(call.in(0));
  require(call, x.rank() == 2 || (x.rank() == 3 && (x.dim(2) == 1 || x.dim(2) == 2)),
          "the signal must be [batch, length, 1 or 2]");
  const int64_t parts = x.rank() == 2 ? 1 : x.dim(2), samples = x.dim(1), step = int_in(call, 1, 0);
  const Tensor window = call.has(2) ? as(call.in(2), x.dtype()) : Tensor();
  const int64_t length = int_in(call, 3, call.has(2) ? window.size() : samples);
  if (step < 1 || length < 1 || length > samples)
    fail(call, fmt::format("frames of {} every {} in a signal of {}", length, step, samples));
  require(call, !call.has(2) || (window.rank() == 1 && window.size() == length),
          "the window is not as long as a frame");
  const bool onesided = call.view.get_int("onesided", 1) != 0;
  require(call, !onesided || parts == 1, "a one-sided spectrum needs a real signal");
  const int64_t frames = (samples - length) / step + 1;
  const Dft dft{length, false, onesided, length, onesided ? length / 2 + 1 : length, parts, 2};
  with_float(call, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Tensor framed = windowed_frames<T>(x, call.has(2) ? &window : nullptr, frames, step, length, parts);
    const AxisView view{x.dim(0) * frames, length, 1};
    call.set(0, as(transform<T>(framed, dft, view, {x.dim(0), frames, dft.out, 2}), call.in(0).dtype()));
  });
}

constexpr Kernel kKernels[] = {
    {"", "DFT", dft_op},
    {"", "STFT", stft_op},
};

}  // namespace

std::span<const Kernel> signal_kernels() { return kKernels; }

}  // namespace mlopt::reference
