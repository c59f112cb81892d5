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
/// a and x; each of them may be stored transposed.
struct IntegerProductArgs {
  CodeArray a, x;
  bool a_transposed, x_transposed;
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

/// Rows of 8-bit codes as signed ones, 128 less than unsigned ones, in rows of `pitch` bytes (a multiple of 4), zeros
/// behind.
struct PackCodesArgs {
  bool is_signed;
  int64_t rows, length;
  int pitch;
  const void* in;
  void* out;
};
Status pack_codes(Queue& queue, const PackCodesArgs& args);

/// out[b, i, j] = sum of a[b, i, :] * x[b, j, :] of signed codes in rows of k, a multiple of 16; so is n. Batches lie
/// `stride` elements apart, 0 where one serves all. Below 2^31, for k below 2^17.
struct CodesProductArgs {
  int64_t batch, m, n, k;
  int64_t a_stride, x_stride, out_stride;
  const void *a, *x;
  int32_t* out;
};
Status codes_product(Queue& queue, const CodesProductArgs& args);
/// The same without a library.
Status codes_product_in_tiles(Queue& queue, const CodesProductArgs& args);

/// Sums of products of codes, number i of them at i / row * pitch + i % row. Where they are of packed codes, `weights`
/// has the sum of the weights of each channel, and from each sum goes the zero point of the other operand (null: 0;
/// packed as its codes are) times that.
struct CodeSums {
  const int32_t* sums = nullptr;
  Divider row = {};
  int32_t pitch = 1;
  const int32_t* weights = nullptr;
  bool is_signed = false;  ///< the other operand
  const void* zero = nullptr;

  MLOPT_DEVICE int32_t at(uint32_t i, uint32_t channel) const {
    const uint32_t line = row.quotient(i);
    const int32_t sum = sums[static_cast<int64_t>(line) * pitch + (i - line * row.divisor)];
    if (!weights) return sum;
    int z = is_signed ? 0 : -128;
    if (zero) z += is_signed ? *static_cast<const int8_t*>(zero) : *static_cast<const uint8_t*>(zero);
    return static_cast<int32_t>(static_cast<uint32_t>(sum) -
                                static_cast<uint32_t>(z) * static_cast<uint32_t>(weights[channel]));
  }
};

/// out = the sums, of [outer, length, inner] with the channels in the middle.
struct PlainSumsArgs {
  CodeSums sums;
  Divider length, inner;
  int64_t count;
  int32_t* out;
};
Status plain_sums(Queue& queue, const PlainSumsArgs& args);

/// out = saturate(round((sum + bias) * (a_scale * b_scale / y_scale)) + zero), all in float32; b_scale (`each`: one for
/// each index of the middle axis of [outer, length, inner]) and bias, which has one for each or is null.
struct RequantizeArgs {
  Elem scale_type;
  Codes codes;
  bool each;
  Divider length, inner;
  int64_t count;
  CodeSums sums = {};
  const int32_t* bias = nullptr;
  const void *a_scale = nullptr, *b_scale = nullptr, *y_scale = nullptr, *zero = nullptr;
  void* out = nullptr;
};
Status requantize(Queue& queue, const RequantizeArgs& args);

/// out = (sum + steps) * a_scale * b_scale + bias, scales and bias one for each of `columns`, or scales one for all.
struct RescaleArgs {
  Elem type;  ///< of all but the sums
  bool a_each, b_each;
  Divider columns;
  int64_t count;
  CodeSums sums = {};
  const int32_t* steps = nullptr;  ///< a bias in units of the scales, one for each column; may be null
  const void *a_scale = nullptr, *b_scale = nullptr, *bias = nullptr;
  void* out = nullptr;
};
Status rescale(Queue& queue, const RescaleArgs& args);

}  // namespace mlopt::gpu
