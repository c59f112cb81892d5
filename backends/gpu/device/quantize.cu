// Numbers to codes and back.
#include "backends/gpu/device/codes.h"
#include "backends/gpu/device/quantize.h"

namespace mlopt::gpu {
namespace {

template <class T>
struct Quantize {
  QuantizeArgs args;
  int each;  ///< codes in a byte, or 1

  MLOPT_DEVICE float quotient(uint32_t i, uint32_t s) const {
    const float x = widen(static_cast<const T*>(args.in)[i]);
    if (!args.scale) return x;
    return rounded_to(args.scale_type, rounded_to(args.scale_type, x) / float_at(args.scale_type, args.scale, s));
  }

  MLOPT_DEVICE int64_t code(uint32_t i) const {
    const uint32_t s = args.map.at(i);
    float scaled = quotient(i, s);
    if (args.codes.exponent > 0) return float_code(args.codes, scaled);
    constexpr float kFar = 4294967296.0f;                                 // beyond all codes, but safe to convert
    scaled = !(scaled >= -kFar) ? -kFar : scaled > kFar ? kFar : scaled;  // NaN gives the lowest code
    const int64_t whole = static_cast<int64_t>(rintf(scaled)) + (args.zero ? code_at(args.codes, args.zero, s) : 0);
    const int64_t low = args.codes.is_signed ? -(int64_t{1} << (args.codes.bits - 1)) : 0;
    const int64_t high = (int64_t{1} << (args.codes.bits - (args.codes.is_signed ? 1 : 0))) - 1;
    return whole < low ? low : whole > high ? high : whole;
  }

  MLOPT_DEVICE void operator()(uint32_t i) const {
    switch (args.codes.bits) {
      case 32:
        static_cast<uint32_t*>(args.out)[i] = static_cast<uint32_t>(code(i));
        return;
      case 16:
        static_cast<uint16_t*>(args.out)[i] = static_cast<uint16_t>(code(i));
        return;
      default: {
        uint32_t byte = 0;
        for (int k = 0; k < each; ++k) {
          const uint32_t at = i * static_cast<uint32_t>(each) + static_cast<uint32_t>(k);
          if (at >= args.count) break;
          byte |= (static_cast<uint32_t>(code(at)) & ((1u << args.codes.bits) - 1)) << (k * args.codes.bits);
        }
        static_cast<uint8_t*>(args.out)[i] = static_cast<uint8_t>(byte);
      }
    }
  }
};

template <class T>
struct Dequantize {
  DequantizeArgs args;

  MLOPT_DEVICE float distance(uint32_t i, uint32_t s) const {
    if (args.codes.exponent > 0) return code_float(args.codes, args.in, i);
    return static_cast<float>(code_at(args.codes, args.in, i) - (args.zero ? code_at(args.codes, args.zero, s) : 0));
  }
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t s = args.map.at(i);
    const float scale = args.scale ? float_at(args.scale_type, args.scale, s) : 1;
    static_cast<T*>(args.out)[i] = narrow<T>(distance(i, s) * scale);
  }
};

struct Range {
  RangeArgs args;
  MLOPT_DEVICE void operator()(uint32_t) const {
    const float low = *args.low < 0 ? *args.low : 0, high = *args.high > 0 ? *args.high : 0;
    const float step = (high - low) / 255, scale = step > 0 ? step : 1;  // zeros keep a scale to divide by
    constexpr float kMost = 3.402823466e+38f;                            // beyond it the quotient is no number
    const float zero = scale <= kMost ? -low / scale : low < -kMost ? 255 : 0;
    *args.scale = scale;
    *args.zero = static_cast<uint8_t>(rintf(zero > 255 ? 255 : zero));
  }
};

}  // namespace

Status quantize(Queue& queue, const QuantizeArgs& args) {
  const int each = args.codes.bits < 8 ? 8 / args.codes.bits : 1;
  return by_float(args.type, [&](auto one) {
    return for_each(queue, (args.count + each - 1) / each, Quantize<decltype(one)>{args, each});
  });
}

Status dequantize(Queue& queue, const DequantizeArgs& args) {
  return by_float(args.type, [&](auto one) { return for_each(queue, args.count, Dequantize<decltype(one)>{args}); });
}

Status quantized_range(Queue& queue, const RangeArgs& args) { return for_each(queue, 1, Range{args}); }

}  // namespace mlopt::gpu
