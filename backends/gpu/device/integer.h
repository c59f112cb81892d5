#pragma once
// Sums of products of 8-bit codes, exact in 32 bits, and what becomes of them.
#include "backends/gpu/device/quantize.h"
#include "backends/gpu/device/windows.h"

namespace mlopt::gpu {

/// Codes of 8 bits and their zero points: null, or one for all, or (`each`) one for each row of a left operand or
/// column of a right one.
struct CodeArray {
  bool is_signed, each;
  const void *codes, *zero;

  MLOPT_DEVICE int at(int64_t i, int64_t line) const {
    return is_signed ? distance<int8_t>(i, line) : distance<uint8_t>(i, line);
  }

 private:
  template <class T>
  MLOPT_DEVICE int distance(int64_t i, int64_t line) const {
    return static_cast<const T*>(codes)[i] - (zero ? static_cast<const T*>(zero)[each ? line : 0] : 0);
  }
};

/// out[b, m, n] = sum over k of (a[b, m, k] - zero) * (x[b, k, n] - zero), modulo 2^32; `batches` walks the matrices of
/// a and x.
struct IntegerProductArgs {
  CodeArray a, x;
  Walk<2> batches;
  int64_t m, n, k;
  int32_t* out;
};
Status integer_product(Queue& queue, const IntegerProductArgs& args);

/// The convolution that `conv` says of sums of (x - zero) * (weights - zero): padding adds nothing. Of `conv` what it
/// reads and writes is unused; zero points of weights may be one for each channel out.
struct IntegerConvArgs {
  ConvArgs conv;
  CodeArray x, weights;
  int32_t* out;
};
Status integer_conv(Queue& queue, const IntegerConvArgs& args);

/// out = saturate(round((sum + bias) * (a_scale * b_scale / y_scale)) + zero), all in float32; b_scale (`each`: one for
/// each index of the middle axis of [outer, length, inner]) and bias, which has one for each or is null.
struct RequantizeArgs {
  Elem scale_type;
  Codes codes;
  bool each;
  Divider length, inner;
  int64_t count;
  const int32_t *sums = nullptr, *bias = nullptr;
  const void *a_scale = nullptr, *b_scale = nullptr, *y_scale = nullptr, *zero = nullptr;
  void* out = nullptr;
};
Status requantize(Queue& queue, const RequantizeArgs& args);

/// out = sum * a_scale * b_scale + bias, scales and bias one for each of `columns`, or scales one for all.
struct RescaleArgs {
  Elem type;  ///< of all but the sums
  bool a_each, b_each;
  Divider columns;
  int64_t count;
  const int32_t* sums = nullptr;
  const void *a_scale = nullptr, *b_scale = nullptr, *bias = nullptr;
  void* out = nullptr;
};
Status rescale(Queue& queue, const RescaleArgs& args);

}  // namespace mlopt::gpu
