#include <algorithm>
#include <cmath>
#include <memory>

#include "backends/reference/kernels.h"
#include "backends/reference/map.h"
#include "core/ir/cast_target.h"

namespace mlopt::reference {
namespace {

/// The code of the power of two that `round_mode` gives for |x|; 255 is NaN. Zero and values below 2^-127 saturate to
/// 2^-127, values above 2^127 to 2^127, or both become NaN.
uint8_t to_e8m0(double x, bool saturate, const std::string& round_mode) {
  constexpr int kBias = 127, kLargest = 254, kNan = 255;
  if (std::isnan(x)) return kNan;
  x = std::fabs(x);
  if (std::isinf(x)) return saturate ? kLargest : kNan;
  if (x == 0) return saturate ? 0 : kNan;
  int exponent;
  const double fraction = 2 * std::frexp(x, &exponent);  // x = fraction * 2^(exponent - 1), fraction in [1, 2)
  int code = exponent - 1 + kBias;
  if (round_mode == "up" ? fraction > 1 : round_mode == "nearest" && fraction >= 1.5) ++code;
  if (saturate) return static_cast<uint8_t>(std::clamp(code, 0, kLargest));
  return static_cast<uint8_t>(code < 0 || code > kLargest ? kNan : code);
}

/// Of Cast and BitCast.
DType target_type(const Call& call) {
  const DType type = cast_target(call.view);
  require(call, type != DType::kUndefined, "'to' is not a known element type");
  return type;
}

void convert(Call& call, DType type) {
  const Tensor& x = call.in(0);
  const bool saturate = call.view.get_int("saturate", 1) != 0;
  if (type != DType::kF8E8M0 || x.dtype() == type) {
    try {
      return call.set(0, cast(x, type, saturate));
    } catch (const Error& error) {
      fail(call, error.message + (error.where.empty() ? "" : ": " + error.where));
    }
  }
  const std::string round_mode = call.view.get_string("round_mode", "up");
  require(call, round_mode == "up" || round_mode == "down" || round_mode == "nearest",
          "round_mode must be up, down or nearest");
  const Tensor wide = as(x, DType::kF64);
  Tensor out(type, x.dims());
  std::byte* codes = out.mutable_raw();
  for (int64_t i = 0; i < x.size(); ++i)
    codes[i] = static_cast<std::byte>(to_e8m0(wide.data<double>()[i], saturate, round_mode));
  call.set(0, std::move(out));
}

void cast_to(Call& call) { convert(call, target_type(call)); }
void cast_like(Call& call) { convert(call, call.in(1).dtype()); }

void bit_cast(Call& call) {
  const Tensor& x = call.in(0);
  const DType type = target_type(call);
  require(call, bits(type) != 0 && bits(type) == bits(x.dtype()), "both types must have the same number of bits");
  const auto owner = std::make_shared<const Tensor>(x);
  call.set(0, Tensor::view(type, x.dims(), owner->raw_bytes(), owner));
}

constexpr Kernel kKernels[] = {
    {"", "BitCast", bit_cast},
    {"", "Cast", cast_to},
    {"", "CastLike", cast_like},
};

}  // namespace

std::span<const Kernel> cast_kernels() { return kKernels; }

}  // namespace mlopt::reference
