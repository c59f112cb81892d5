#pragma once
#include <cstdint>

namespace mlopt::cpu {

// One step of a recurrent layer for one sequence of `n` hidden numbers, once the products are summed: gates lie one
// after the other, in ONNX's order. On the calling thread.

/// RNN: the activation of `gates` [n] is the state.
void tanh_cell(const float* gates, float* state, int64_t n);
void relu_cell(const float* gates, float* state, int64_t n);
/// LSTM: `gates` [4, n]; cell and state go on.
void lstm_cell(const float* gates, float* cell, float* state, int64_t n);
/// GRU before the product of the candidate: gates [2, n] become update and reset, reset_state = reset * state.
void gru_reset(float* gates, const float* state, float* reset_state, int64_t n);
/// GRU after it: gates [3, n] are update, anything, and the candidate's sum.
void gru_cell(const float* gates, float* state, int64_t n);
/// GRU with linear_before_reset: sums [3, n] of the input and of the state.
void linear_gru_cell(const float* input, const float* recurrent, float* state, int64_t n);

}  // namespace mlopt::cpu
