#pragma once
#include <cstdint>

#include "core/tensor/small_float.h"

namespace mlopt {

// count elements converted on the calling thread, rounded to nearest even.
void widen(const Half* in, float* out, int64_t count);
void widen(const BFloat16* in, float* out, int64_t count);
void narrow(const float* in, Half* out, int64_t count);
void narrow(const float* in, BFloat16* out, int64_t count);

}  // namespace mlopt
