#pragma once
#include <cstdint>

namespace mlopt::cpu {

/// What a row of numbers is reduced to. NaN wins over every number.
enum class Fold { kSum, kSumAbs, kSumSquare, kProduct, kMax, kMin };

constexpr bool is_sum(Fold op) { return op <= Fold::kSumSquare; }
/// What the reduction of nothing gives.
float identity(Fold op);

// Vector loops over contiguous rows, on the calling thread.

/// acc[i] = acc[i] folded with x[i].
void fold(Fold op, float* acc, const float* x, int64_t count);
/// The fold of all elements; sums are kept in double between blocks.
float fold_row(Fold op, const float* x, int64_t count);
/// acc[i] = max(acc[i], x[i]).
void fold_max(uint8_t* acc, const uint8_t* x, int64_t count);
void fold_max(int8_t* acc, const int8_t* x, int64_t count);
/// Sum of (x[i] - mean)^2.
float sum_deviation(const float* x, int64_t count, float mean);
/// out[i] = (x[i] - mean) factor scale[i] + bias[i]; a null scale is 1, a null bias 0; in place allowed.
void normalize_row(const float* x, float* out, int64_t count, float mean, float factor, const float* scale,
                   const float* bias);
/// out[i] = a x[i] + b; in place allowed.
void affine(const float* x, float* out, int64_t count, float a, float b);

/// out[i] = a (x[i] - mean) + b; in place allowed. Below, each with a mean and factors of its own.
void centred_affine(const float* x, float* out, int64_t count, float mean, float a, float b);
void centred_affine(const float* x, float* out, int64_t count, const float* mean, const float* a, const float* b);

/// out[i] = exp(x[i] - shift), 0 where that is below e^-86; gives their sum. No x is above the shift. In place allowed.
float exp_row(const float* x, float* out, int64_t count, float shift);

/// acc[i] += exp(x[i] - shift[i]), or nothing where that is below e^-86. No x is above its shift.
void add_exp_distance(float* acc, const float* x, const float* shift, int64_t count);

/// acc[i] += a x[i].
void add_scaled(float* acc, const float* x, int64_t count, float a);
/// acc[i] += (x[i] - mean[i])^2.
void add_squared_distance(float* acc, const float* x, const float* mean, int64_t count);

}  // namespace mlopt::cpu
