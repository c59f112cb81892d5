#pragma once
#include <cstdint>

namespace mlopt::cpu {

// What lies under a window, one array of n numbers for each of its taps (at least one), reduced number by number. `out`
// overlaps none of them. On the calling thread.

/// out[i] = the largest of taps[k][i]; NaN wins.
void max_of_taps(const float* const* taps, int64_t count, float* out, int64_t n);
void max_of_taps(const uint8_t* const* taps, int64_t count, uint8_t* out, int64_t n);
void max_of_taps(const int8_t* const* taps, int64_t count, int8_t* out, int64_t n);
/// out[i] = the sum of taps[k][i].
void sum_of_taps(const float* const* taps, int64_t count, float* out, int64_t n);
/// The same, divided.
void mean_of_taps(const float* const* taps, int64_t count, float divisor, float* out, int64_t n);
/// out[i] = the sum of weights[k] taps[k][i], also of no taps.
void weighted_taps(const float* const* taps, const float* weights, int64_t count, float* out, int64_t n);

}  // namespace mlopt::cpu
