// What moves elements, or changes their type.
#include "backends/gpu/device/kernels.h"
#include "backends/gpu/device/truncate.h"

namespace mlopt::gpu {
namespace {

template <class T>
struct Copy {
  CopyArgs args;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    int32_t at[2];
    args.walk.locate(i, at);
    static_cast<T*>(args.out)[at[1]] = static_cast<const T*>(args.in)[at[0]];
  }
};

template <class T>
struct Fill {
  const T* value;
  T* out;
  MLOPT_DEVICE void operator()(uint32_t i) const { out[i] = value ? *value : T{}; }
};

template <class T>
struct Choose {
  ChooseArgs args;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    int32_t at[3];
    args.walk.locate(i, at);
    static_cast<T*>(args.out)[i] =
        args.condition[at[0]] ? static_cast<const T*>(args.a)[at[1]] : static_cast<const T*>(args.b)[at[2]];
  }
};

template <class T>
struct Gather {
  GatherArgs args;
  Reporter reporter;
  Divider inner, taken;  ///< inner; indices * inner
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t o = taken.quotient(i), rest = i - o * taken.divisor;
    const uint32_t which = inner.quotient(rest), k = rest - which * inner.divisor;
    const int64_t given =
        args.wide ? static_cast<const int64_t*>(args.indices)[which] : static_cast<const int32_t*>(args.indices)[which];
    const int64_t index = given < 0 ? given + args.length : given;
    const bool inside = index >= 0 && index < args.length;
    if (!inside) reporter.outside(given, args.length);
    static_cast<T*>(args.out)[i] =
        inside ? static_cast<const T*>(args.in)[(o * args.length + index) * args.inner + k] : T{};
  }
};

template <class To, class From>
struct Cast {
  const From* in;
  To* out;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const Wide<From> x = widen(in[i]);
    if constexpr (std::is_same_v<To, bool>)
      out[i] = x != Wide<From>(0);
    else if constexpr (std::is_same_v<Wide<To>, float>)
      out[i] = narrow<To>(static_cast<float>(x));
    else if constexpr (std::is_same_v<Wide<From>, float>)
      out[i] = integer<To>(x);
    else
      out[i] = static_cast<To>(x);
  }
};

}  // namespace

Status copy(Queue& queue, const CopyArgs& args) {
  return by_width(args.width, [&](auto one) { return for_each(queue, args.walk.count, Copy<decltype(one)>{args}); });
}

Status fill(Queue& queue, const FillArgs& args) {
  return by_width(args.width, [&](auto one) {
    using T = decltype(one);
    return for_each(queue, args.count, Fill<T>{static_cast<const T*>(args.value), static_cast<T*>(args.out)});
  });
}

Status choose(Queue& queue, const ChooseArgs& args) {
  return by_width(args.width, [&](auto one) { return for_each(queue, args.walk.count, Choose<decltype(one)>{args}); });
}

Status gather(Queue& queue, const GatherArgs& args) {
  const Divider inner(static_cast<uint32_t>(args.inner)), taken(static_cast<uint32_t>(args.count * args.inner));
  return by_width(args.width, [&](auto one) {
    return for_each(queue, args.outer * args.count * args.inner,
                    Gather<decltype(one)>{args, reporter_of(queue), inner, taken});
  });
}

Status cast(Queue& queue, const CastArgs& args) {
  return by_type(args.from, [&](auto from) {
    return by_type(args.to, [&](auto to) {
      using From = decltype(from);
      using To = decltype(to);
      return for_each(queue, args.count, Cast<To, From>{static_cast<const From*>(args.in), static_cast<To*>(args.out)});
    });
  });
}

}  // namespace mlopt::gpu
