#pragma once
// What the backend can ask a device to compute. Pointers are the device's; counts are in elements, below 2^31.
#include "backends/gpu/conv_library.h"
#include "backends/gpu/device/along.h"
#include "backends/gpu/device/attention.h"
#include "backends/gpu/device/columns.h"
#include "backends/gpu/device/counted.h"
#include "backends/gpu/device/float8.h"
#include "backends/gpu/device/fourier.h"
#include "backends/gpu/device/gradients.h"
#include "backends/gpu/device/grams.h"
#include "backends/gpu/device/grid_sample.h"
#include "backends/gpu/device/integer.h"
#include "backends/gpu/device/launch.h"
#include "backends/gpu/device/lines.h"
#include "backends/gpu/device/narrow.h"
#include "backends/gpu/device/optimizer.h"
#include "backends/gpu/device/places.h"
#include "backends/gpu/device/quantize.h"
#include "backends/gpu/device/recurrent.h"
#include "backends/gpu/device/regions.h"
#include "backends/gpu/device/rows.h"
#include "backends/gpu/device/walk.h"
#include "backends/gpu/device/windows.h"
#include "backends/gpu/sparse_library.h"
#include "core/base/activation.h"

namespace mlopt::gpu {

/// Functions of one number that are no activation.
enum class Math { kSin, kCos, kTan, kAsin, kAcos, kAtan, kSinh, kCosh, kAsinh, kAcosh, kAtanh, kSign };

/// out = fn(in) of float numbers.
struct EltwiseArgs {
  Elem type;
  Activation act;
  const void* in;
  void* out;
  int64_t count;
};
Status eltwise(Queue& queue, const EltwiseArgs& args);

struct MathArgs {
  Elem type;
  Math fn;
  const void* in;
  void* out;
  int64_t count;
};
Status math(Queue& queue, const MathArgs& args);

/// Of two numbers. Pow of a negative base and a broken exponent is NaN; kMod has the divisor's sign, kFMod the
/// dividend's; those of bits are for integers.
enum class Arith {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kPow,
  kMax,
  kMin,
  kPRelu,
  kMod,
  kFMod,
  kBitAnd,
  kBitOr,
  kBitXor,
  kShiftLeft,
  kShiftRight
};

/// out[i] = op(a, b), walking operands 0 and 1; an integer divided by zero is reported.
struct ArithArgs {
  Elem type;
  Arith op;
  Walk<2> walk;
  const void *a, *b;
  void* out;
};
Status arith(Queue& queue, const ArithArgs& args);

/// One operator of a chain, on what the one before made.
struct ChainLink {
  Activation act;  ///< where it has no other operand
  Arith op;        ///< with the operand
  int operand;     ///< its number; 0: none
  bool left;       ///< what the operator before made is the left operand
};

/// out[i] = the links one after the other on in[i], of float numbers, and over `divisor` unless that is 0; tensor k of
/// `walk` is operand k, `in` is 0.
struct ChainArgs {
  static constexpr int kLinks = 16, kTensors = 7;
  Elem type;
  int count;  ///< of links
  ChainLink links[kLinks];
  Walk<kTensors> walk;
  const void* in[kTensors];
  void* out;
  float divisor;
};
Status chain(Queue& queue, const ChainArgs& args);

/// kInfinite, kAbove and kBelow: the first number is infinite, whatever the second one is.
enum class Test {
  kInfinite,
  kAbove,
  kBelow,
  kEqual,
  kDiffers,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kAnd,
  kOr,
  kXor,
  kIsZero
};

/// The same to booleans.
struct CompareArgs {
  Elem type;
  Test test;
  Walk<2> walk;
  const void *a, *b;
  bool* out;
};
Status compare(Queue& queue, const CompareArgs& args);

/// out[i] = condition ? a : b; elements of `width` bytes (1, 2, 4 or 8).
struct ChooseArgs {
  int width;
  Walk<3> walk;
  const bool* condition;
  const void *a, *b;
  void* out;
};
Status choose(Queue& queue, const ChooseArgs& args);

/// Numbers of one type as another's, as Cast has it.
struct CastArgs {
  Elem from, to;
  const void* in;
  void* out;
  int64_t count;
};
Status cast(Queue& queue, const CastArgs& args);

/// out[walk 1] = in[walk 0]; elements of `width` bytes.
struct CopyArgs {
  int width;
  Walk<2> walk;
  const void* in;
  void* out;
};
Status copy(Queue& queue, const CopyArgs& args);

/// `count` times the element at `value`; null: zero.
struct FillArgs {
  int width;
  const void* value;
  void* out;
  int64_t count;
};
Status fill(Queue& queue, const FillArgs& args);

/// out[o, i, k] = in[o, indices[i], k] of [outer, length, inner]; negative indices count from the end, and those
/// outside are reported, and give zeros.
struct GatherArgs {
  int width;
  bool wide;  ///< indices are int64, else int32
  int64_t outer, length, inner, count;
  const void *in, *indices;
  void* out;
};
Status gather(Queue& queue, const GatherArgs& args);

/// out[b] = act(alpha a[b] x[b] + beta out[b] + bias) of row-major matrices a [m, k] and x [k, n], each of them stored
/// transposed where said; `bias` has n numbers, or is null. Batches lie `stride` elements apart, 0 where one serves
/// all.
struct ProductArgs {
  Elem type;
  bool tf32;  ///< float32 may be rounded to 10 bits
  bool a_transposed, b_transposed;
  bool wide_out;  ///< `out` is float32 whatever the type is; without bias and act
  int64_t batch, m, n, k;
  int64_t a_stride, b_stride, out_stride;
  float alpha, beta;
  Activation act;  ///< kNone, kRelu or kGeluTanh
  const void *a, *b, *bias;
  void* out;
};
Status product(Queue& queue, const ProductArgs& args);

/// All of them, as the plugin offers them.
struct Kernels {
  decltype(&gpu::eltwise) eltwise = gpu::eltwise;
  decltype(&gpu::math) math = gpu::math;
  decltype(&gpu::arith) arith = gpu::arith;
  decltype(&gpu::chain) chain = gpu::chain;
  decltype(&gpu::compare) compare = gpu::compare;
  decltype(&gpu::choose) choose = gpu::choose;
  decltype(&gpu::cast) cast = gpu::cast;
  decltype(&gpu::copy) copy = gpu::copy;
  decltype(&gpu::fill) fill = gpu::fill;
  decltype(&gpu::gather) gather = gpu::gather;
  decltype(&gpu::reduce) reduce = gpu::reduce;
  decltype(&gpu::softmax) softmax = gpu::softmax;
  decltype(&gpu::norm) norm = gpu::norm;
  decltype(&gpu::channel_norm) channel_norm = gpu::channel_norm;
  decltype(&gpu::resize) resize = gpu::resize;
  decltype(&gpu::conv) conv = gpu::conv;
  decltype(&gpu::conv_transpose) conv_transpose = gpu::conv_transpose;
  decltype(&gpu::library_conv) library_conv = gpu::library_conv;
  decltype(&gpu::columns) columns = gpu::columns;
  decltype(&gpu::conv_end) conv_end = gpu::conv_end;
  decltype(&gpu::code_columns) code_columns = gpu::code_columns;
  decltype(&gpu::pool) pool = gpu::pool;
  decltype(&gpu::roi_align) roi_align = gpu::roi_align;
  decltype(&gpu::roi_pool) roi_pool = gpu::roi_pool;
  decltype(&gpu::deformed_columns) deformed_columns = gpu::deformed_columns;
  decltype(&gpu::product) product = gpu::product;
  decltype(&gpu::sparse_compress) sparse_compress = gpu::sparse_compress;
  decltype(&gpu::sparse_product) sparse_product = gpu::sparse_product;
  decltype(&gpu::quantize) quantize = gpu::quantize;
  decltype(&gpu::dequantize) dequantize = gpu::dequantize;
  decltype(&gpu::widen_codes) widen_codes = gpu::widen_codes;
  decltype(&gpu::narrow_codes) narrow_codes = gpu::narrow_codes;
  decltype(&gpu::quantized_range) quantized_range = gpu::quantized_range;
  decltype(&gpu::code_map) code_map = gpu::code_map;
  decltype(&gpu::code_means) code_means = gpu::code_means;
  decltype(&gpu::grid_sample) grid_sample = gpu::grid_sample;
  decltype(&gpu::integer_product) integer_product = gpu::integer_product;
  decltype(&gpu::integer_conv) integer_conv = gpu::integer_conv;
  decltype(&gpu::pack_codes) pack_codes = gpu::pack_codes;
  decltype(&gpu::codes_product) codes_product = gpu::codes_product;
  decltype(&gpu::float8_product) float8_product = gpu::float8_product;
  decltype(&gpu::float8_end) float8_end = gpu::float8_end;
  decltype(&gpu::plain_sums) plain_sums = gpu::plain_sums;
  decltype(&gpu::requantize) requantize = gpu::requantize;
  decltype(&gpu::rescale) rescale = gpu::rescale;
  decltype(&gpu::nbits_product) nbits_product = gpu::nbits_product;
  decltype(&gpu::nbits_unpack) nbits_unpack = gpu::nbits_unpack;
  decltype(&gpu::levels_product) levels_product = gpu::levels_product;
  decltype(&gpu::levels_unpack) levels_unpack = gpu::levels_unpack;
  decltype(&gpu::gather_elements) gather_elements = gpu::gather_elements;
  decltype(&gpu::gather_tuples) gather_tuples = gpu::gather_tuples;
  decltype(&gpu::scatter_elements) scatter_elements = gpu::scatter_elements;
  decltype(&gpu::scatter_tuples) scatter_tuples = gpu::scatter_tuples;
  decltype(&gpu::non_zero) non_zero = gpu::non_zero;
  decltype(&gpu::suppress) suppress = gpu::suppress;
  decltype(&gpu::unique) unique = gpu::unique;
  decltype(&gpu::count_grams) count_grams = gpu::count_grams;
  decltype(&gpu::one_hot) one_hot = gpu::one_hot;
  decltype(&gpu::unpool) unpool = gpu::unpool;
  decltype(&gpu::write_rows) write_rows = gpu::write_rows;
  decltype(&gpu::top) top = gpu::top;
  decltype(&gpu::cum_sum) cum_sum = gpu::cum_sum;
  decltype(&gpu::lp_norm) lp_norm = gpu::lp_norm;
  decltype(&gpu::local_norm) local_norm = gpu::local_norm;
  decltype(&gpu::reverse) reverse = gpu::reverse;
  decltype(&gpu::determinants) determinants = gpu::determinants;
  decltype(&gpu::triangle) triangle = gpu::triangle;
  decltype(&gpu::continued) continued = gpu::continued;
  decltype(&gpu::dft) dft = gpu::dft;
  decltype(&gpu::attention) attention = gpu::attention;
  decltype(&gpu::attention_weights) attention_weights = gpu::attention_weights;
  decltype(&gpu::extend_cache) extend_cache = gpu::extend_cache;
  decltype(&gpu::rotary) rotary = gpu::rotary;
  decltype(&gpu::lstm_step) lstm_step = gpu::lstm_step;
  decltype(&gpu::keep_ended) keep_ended = gpu::keep_ended;
  decltype(&gpu::gru_step) gru_step = gpu::gru_step;
  decltype(&gpu::gru_reset) gru_reset = gpu::gru_reset;
  decltype(&gpu::lstm_grad) lstm_grad = gpu::lstm_grad;
  decltype(&gpu::gru_grad) gru_grad = gpu::gru_grad;
  decltype(&gpu::gru_reset_grad) gru_reset_grad = gpu::gru_reset_grad;
  decltype(&gpu::slope) slope = gpu::slope;
  decltype(&gpu::softmax_grad) softmax_grad = gpu::softmax_grad;
  decltype(&gpu::norm_grad) norm_grad = gpu::norm_grad;
  decltype(&gpu::batch_norm_totals) batch_norm_totals = gpu::batch_norm_totals;
  decltype(&gpu::batch_norm) batch_norm = gpu::batch_norm;
  decltype(&gpu::batch_norm_grad) batch_norm_grad = gpu::batch_norm_grad;
  decltype(&gpu::pool_grad) pool_grad = gpu::pool_grad;
  decltype(&gpu::conv_grad) conv_grad = gpu::conv_grad;
  decltype(&gpu::fold) fold = gpu::fold;
  decltype(&gpu::gather_grad) gather_grad = gpu::gather_grad;
  decltype(&gpu::fake_quantize) fake_quantize = gpu::fake_quantize;
  decltype(&gpu::fake_quantize_grad) fake_quantize_grad = gpu::fake_quantize_grad;
  decltype(&gpu::dropout) dropout = gpu::dropout;
  decltype(&gpu::seeded) seeded = gpu::seeded;
  decltype(&gpu::update) update = gpu::update;
  decltype(&gpu::find_infinite) find_infinite = gpu::find_infinite;
};

}  // namespace mlopt::gpu
