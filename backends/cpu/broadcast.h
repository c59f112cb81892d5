#pragma once
#include <array>

#include "core/base/parallel.h"
#include "core/exec/kernel.h"

namespace mlopt::cpu {

/// How two operands step through their broadcast: axes that both step through alike are merged, so that most shapes
/// become one or two axes. Strides are in elements, 0 where an operand repeats.
struct Paired {
  Dims dims;  ///< at least one axis
  std::vector<std::array<int64_t, 2>> strides;
};

/// Both shapes must broadcast to `out`.
inline Paired paired(const Dims& out, const Dims& a, const Dims& b) {
  Paired p;
  std::array<bool, 2> last{};
  const auto own = [&](const Dims& dims, size_t axis) {
    const size_t missing = out.size() - dims.size();
    return axis < missing ? int64_t{1} : dims[axis - missing];
  };
  for (size_t axis = 0; axis < out.size(); ++axis) {
    if (out[axis] == 1) continue;
    const std::array<bool, 2> moves{own(a, axis) != 1, own(b, axis) != 1};
    if (!p.dims.empty() && moves == last) {
      p.dims.back() *= out[axis];
    } else {
      p.dims.push_back(out[axis]);
      p.strides.push_back({moves[0], moves[1]});
      last = moves;
    }
  }
  if (p.dims.empty()) p = {{1}, {{1, 1}}};
  std::array<int64_t, 2> step{1, 1};
  for (size_t axis = p.dims.size(); axis-- > 0;)
    for (size_t k = 0; k < 2; ++k) {
      if (p.strides[axis][k] == 0) continue;
      p.strides[axis][k] = step[k];
      step[k] *= p.dims[axis];
    }
  return p;
}

/// The operand's dims as they lie in memory, with as many axes as the output. Declines an operand of lower rank whose
/// axes lie in another order than the output's.
Expected<Dims> memory_dims(const TensorDesc& operand, const TensorDesc& out);

/// Two operands of one type, and what an operator of their elements makes of them.
struct Operands {
  TensorDesc out;
  Paired pairing;
  int in_place;  ///< PlannedStep::in_place
};

/// The inputs `first` and `second` of the node, whose output has elements of `type`.
Expected<Operands> operands_of(const Site& site, int first, int second, DType type);

/// fn(start, count, a, b): the output elements from `begin` to `end`, row by row: [start, start + count) lie in one and
/// pair with operand elements that begin at a and b and step by the last axis' strides.
template <class Fn>
void for_rows_between(const Paired& p, int64_t begin, int64_t end, const Fn& fn) {
  const int64_t row = p.dims.back();
  const size_t outer = p.dims.size() > 1 ? p.dims.size() - 2 : 0;
  const int64_t rows = p.dims.size() > 1 ? p.dims[outer] : 1;
  while (begin < end) {
    int64_t a = 0, b = 0, rest = begin;
    for (size_t axis = p.dims.size(); axis-- > 0; rest /= p.dims[axis]) {
      const int64_t i = rest % p.dims[axis];
      a += i * p.strides[axis][0];
      b += i * p.strides[axis][1];
    }
    // Up to the end of the axis before the last, the next row needs no division.
    int64_t at = begin % row;
    for (int64_t left = rows - begin / row % rows; left > 0 && begin < end; --left, at = 0) {
      const int64_t count = std::min(end - begin, row - at);
      fn(begin, count, a, b);
      begin += count;
      a += p.strides[outer][0] - at * p.strides.back()[0];
      b += p.strides[outer][1] - at * p.strides.back()[1];
    }
  }
}

/// The same for all elements, spread over threads.
template <class Fn>
void for_rows(const Paired& p, int64_t grain, const Fn& fn) {
  int64_t size = 1;
  for (const int64_t d : p.dims) size *= d;
  parallel_for(size, grain, [&](int64_t begin, int64_t end) { for_rows_between(p, begin, end, fn); });
}

}  // namespace mlopt::cpu
