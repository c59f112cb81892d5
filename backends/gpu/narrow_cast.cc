// Cast from and to numbers of 8 bits and less that are lists of codes here: small floats, integers that share bytes.
#include <bit>
#include <cmath>
#include <limits>

#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"
#include "core/tensor/cast.h"
#include "core/tensor/small_float.h"

namespace mlopt::gpu {
namespace {

/// What each code of a type of 8 bits or less is worth.
std::vector<float> values_of(DType type) {
  std::vector<float> values(size_t{1} << bits(type));
  for (size_t code = 0; code < values.size(); ++code) {
    Tensor one(type, {1});
    *one.mutable_raw() = static_cast<std::byte>(code);
    values[code] = static_cast<float>(number_at(one, 0));
  }
  return values;
}

/// Where each code of a small float begins: one after the other, by bisection.
std::vector<CodeFrom> codes_of(DType type, bool saturate) {
  const auto code_at = [&](uint32_t magnitude) -> uint32_t {
    return float_to_small(type, std::bit_cast<float>(magnitude), saturate);
  };
  const auto last = std::bit_cast<uint32_t>(std::numeric_limits<float>::infinity());
  std::vector<CodeFrom> codes{{0, code_at(0)}};
  while (code_at(last) != codes.back().code) {
    uint32_t same = codes.back().magnitude, other = last;
    while (other - same > 1) {
      const uint32_t middle = same + (other - same) / 2;
      (code_at(middle) == codes.back().code ? same : other) = middle;
    }
    codes.push_back({other, code_at(other)});
  }
  return codes;
}

NarrowArgs narrowing(DType type, Elem from, bool listed, int64_t count) {
  NarrowArgs args{};
  args.type = from;
  args.bits = bits(type);
  args.count = count;
  if (!listed) return args;
  args.nan = float_to_small(type, std::numeric_limits<float>::quiet_NaN());
  args.sign = type == DType::kF8E8M0 ? 0 : 1u << (args.bits - 1);
  args.signed_zero = std::signbit(small_to_float(type, static_cast<uint16_t>(args.sign)));
  return args;
}

/// By way of float32 where both types are lists of codes.
Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto made = static_cast<DType>(site.view.get_int("to"));
  const auto from = elem_of(x.dtype), to = elem_of(made);
  const bool saturate = site.view.get_int("saturate", 1) != 0;
  const auto is_listed = [](DType type) { return bits(type) >= 1 && bits(type) <= 8; };
  if (!from && !is_listed(x.dtype)) return from.error();
  if (!to && !is_listed(made)) return to.error();
  if ((from && to) || !is_countable(x)) return Decline{"more elements than kernels count"};
  if (made == DType::kF8E8M0 && (!saturate || site.view.get_string("round_mode", "up") != "up"))
    return Decline{"powers of two that are not rounded up"};
  PlannedStep step{.out = {{made, x.dims}}};
  const bool twice = !from && !to;
  if (twice) step.scratch_bytes = static_cast<size_t>(x.size()) * sizeof(float);
  const auto values = from ? nullptr : brought(values_of(x.dtype));
  const bool by_list = !to && is_float(made);
  const std::vector<CodeFrom> list = by_list ? codes_of(made, saturate) : std::vector<CodeFrom>();
  const auto codes = by_list ? brought(list) : nullptr;
  NarrowArgs narrow = narrowing(made, from ? *from : Elem::kF32, by_list, x.size());
  narrow.entries = static_cast<int>(list.size());
  const WidenArgs widen{to ? *to : Elem::kF32, bits(x.dtype), x.size(), nullptr, nullptr, nullptr};
  step.run = [=](const Buffers& b) {
    if (values) {
      WidenArgs now = widen;
      now.values = reinterpret_cast<const float*>(values->at(queue_of(b)));
      now.in = b.in<void>(0);
      now.out = twice ? b.scratch : b.out<void>(0);
      launch(b, &Kernels::widen_codes, now);
      if (!twice) return;
    }
    NarrowArgs now = narrow;
    if (codes) now.codes = reinterpret_cast<const CodeFrom*>(codes->at(queue_of(b)));
    now.in = twice ? b.scratch : b.in<void>(0);
    now.out = b.out<void>(0);
    launch(b, &Kernels::narrow_codes, now);
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "Cast", .plan = plan}};

}  // namespace

std::span<const Kernel> narrow_cast_kernels() { return kKernels; }

}  // namespace mlopt::gpu
