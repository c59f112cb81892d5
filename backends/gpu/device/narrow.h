#pragma once
// Numbers of 8 bits and less as lists of what their codes are worth: for types that no arithmetic knows.
#include "backends/gpu/device/launch.h"

namespace mlopt::gpu {

/// out[i] = values[code i]; codes of 2, 4 or 8 bits, the low bits first.
struct WidenArgs {
  Elem type;  ///< of `out`
  int bits;
  int64_t count;
  const float* values;  ///< one for each code
  const void* in;
  void* out;
};
Status widen_codes(Queue& queue, const WidenArgs& args);

/// The code of a magnitude that begins at a float32 of these bits.
struct CodeFrom {
  uint32_t magnitude, code;
};

/// Codes of 2, 4 or 8 bits of `count` numbers. Floats have the last code of `codes` that begins at or below their
/// magnitude, with `sign` added where they are negative; without `codes` numbers are truncated, and wrap.
struct NarrowArgs {
  Elem type;  ///< of `in`
  int bits, entries;
  uint32_t sign, nan;
  bool signed_zero;  ///< what is rounded to zero keeps its sign
  int64_t count;
  const CodeFrom* codes;  ///< ascending, the first from 0; null: integers
  const void* in;
  void* out;
};
Status narrow_codes(Queue& queue, const NarrowArgs& args);

}  // namespace mlopt::gpu
