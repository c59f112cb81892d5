// Functions of numbers that are stored as 8-bit codes.
#include "backends/gpu/device/codes.h"
#include "backends/gpu/device/function.h"
#include "backends/gpu/device/quantize.h"

namespace mlopt::gpu {
namespace {

MLOPT_DEVICE int byte_at(bool is_signed, const void* codes, int64_t i) {
  return is_signed ? static_cast<const int8_t*>(codes)[i] : static_cast<const uint8_t*>(codes)[i];
}

MLOPT_DEVICE float worth(bool is_signed, Elem scale_type, const CodeSteps& x, int64_t i) {
  return static_cast<float>(byte_at(is_signed, x.codes, i) - byte_at(is_signed, x.zero, 0)) *
         float_at(scale_type, x.scale, 0);
}

MLOPT_DEVICE uint8_t code_of(bool is_signed, float x, float scale, const void* zero) {
  return byte_of(is_signed, x / scale, byte_at(is_signed, zero, 0));
}

struct CodeMap {
  CodeMapArgs args;

  MLOPT_DEVICE void operator()(uint32_t i) const {
    int32_t at[3];
    args.walk.locate(i, at);
    float x = worth(args.is_signed, args.scale_type, args.a, at[0]);
    if (args.alone) {
      x = apply(args.act, x);
    } else {
      const float y = worth(args.is_signed, args.scale_type, args.b, at[1]);
      x = args.multiplies ? x * y : x + y;
    }
    static_cast<uint8_t*>(args.out)[at[2]] =
        code_of(args.is_signed, x, float_at(args.scale_type, args.scale, 0), args.zero);
  }
};

struct CodeMeans {
  CodeMeansArgs args;

  MLOPT_DEVICE void operator()(uint32_t i) const {
    int64_t sum = 0;
    for (int64_t k = 0; k < args.length; ++k) sum += byte_at(args.is_signed, args.in.codes, i * args.length + k);
    const int64_t zeros = byte_at(args.is_signed, args.in.zero, 0) * args.length;
    const float mean =
        static_cast<float>(sum - zeros) * float_at(args.scale_type, args.in.scale, 0) / static_cast<float>(args.length);
    static_cast<uint8_t*>(args.out)[i] =
        code_of(args.is_signed, mean, float_at(args.scale_type, args.scale, 0), args.zero);
  }
};

}  // namespace

Status code_map(Queue& queue, const CodeMapArgs& args) { return for_each(queue, args.walk.count, CodeMap{args}); }

Status code_means(Queue& queue, const CodeMeansArgs& args) { return for_each(queue, args.rows, CodeMeans{args}); }

}  // namespace mlopt::gpu
