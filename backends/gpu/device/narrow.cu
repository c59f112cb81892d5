#include <type_traits>

#include "backends/gpu/device/codes.h"
#include "backends/gpu/device/narrow.h"
#include "backends/gpu/device/truncate.h"

namespace mlopt::gpu {
namespace {

/// A number as another type, which is not a half float: the rest of Cast.
template <class T>
MLOPT_DEVICE T as(float x) {
  if constexpr (std::is_same_v<T, bool>)
    return x != 0;
  else if constexpr (std::is_integral_v<T>)
    return integer<T>(x);
  else
    return narrow<T>(x);
}

template <class T>
struct Widen {
  WidenArgs args;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const auto code = static_cast<uint32_t>(code_at({args.bits, false}, args.in, i));
    static_cast<T*>(args.out)[i] = as<T>(args.values[code]);
  }
};

template <class T>
struct Narrow {
  NarrowArgs args;
  int each;  ///< codes in a byte

  MLOPT_DEVICE uint32_t by_list(float x) const {
    if (x != x) return args.nan;
    const uint32_t bits = bits_as<uint32_t>(x), magnitude = bits & 0x7fffffffu;
    int low = 0, high = args.entries;  // the entry that is looked for is in [low, high)
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (args.codes[middle].magnitude <= magnitude ? low : high) = middle;
    }
    const uint32_t code = args.codes[low].code;
    return bits >> 31 && (code != 0 || args.signed_zero) ? code | args.sign : code;
  }

  MLOPT_DEVICE uint32_t code(uint32_t i) const {
    const Wide<T> x = widen(static_cast<const T*>(args.in)[i]);
    if constexpr (std::is_same_v<Wide<T>, float>)
      return args.codes ? by_list(x) : static_cast<uint32_t>(integer<int64_t>(x));
    else
      return args.codes ? by_list(static_cast<float>(x)) : static_cast<uint32_t>(x);
  }

  MLOPT_DEVICE void operator()(uint32_t byte) const {
    uint32_t made = 0;
    for (int k = 0; k < each; ++k) {
      const uint32_t at = byte * static_cast<uint32_t>(each) + static_cast<uint32_t>(k);
      if (at < args.count) made |= (code(at) & ((1u << args.bits) - 1)) << (k * args.bits);
    }
    static_cast<uint8_t*>(args.out)[byte] = static_cast<uint8_t>(made);
  }
};

}  // namespace

Status widen_codes(Queue& queue, const WidenArgs& args) {
  return by_type(args.type, [&](auto one) { return for_each(queue, args.count, Widen<decltype(one)>{args}); });
}

Status narrow_codes(Queue& queue, const NarrowArgs& args) {
  const int each = 8 / args.bits;
  return by_type(args.type, [&](auto one) {
    return for_each(queue, (args.count + each - 1) / each, Narrow<decltype(one)>{args, each});
  });
}

}  // namespace mlopt::gpu
