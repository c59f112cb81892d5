#pragma once
#include <cstdint>
#include <functional>

namespace mlopt::reference {

/// Rows of all heads of a tensor, whatever the order of its axes: row r of head h of sample b starts at
/// data[b * batch + h * head + r * row].
template <class T>
struct Heads {
  T* data;
  int64_t batch, head, row;

  T* of(int64_t b, int64_t h) const { return data + b * batch + h * head; }
  /// [batch, heads, rows, size].
  static Heads outside(T* data, int64_t heads, int64_t rows, int64_t size) {
    return {data, heads * rows * size, rows * size, size};
  }
  /// [batch, rows, heads, size].
  static Heads inside(T* data, int64_t heads, int64_t rows, int64_t size) {
    return {data, heads * rows * size, size, heads * size};
  }
};

/// Scaled dot-product attention: y = softmax(softcap(scale q k') + bias) v for each head; query head h reads key and
/// value head h / (heads / kv_heads). T is float or double.
template <class T>
struct Attend {
  enum class Stage { kScores, kCapped, kBiased, kWeights };

  int64_t batch, heads, kv_heads, queries, keys, size, value_size;
  Heads<const T> q, k, v;
  Heads<T> y;
  double scale = 1;
  double softcap = 0;                                       ///< c tanh(s / c); 0: none
  std::function<void(int64_t b, int64_t h, T* bias)> bias;  ///< adds to [queries, keys], zeros at first; may be empty
  std::function<double(int64_t h)> sink;  ///< one more score of head h in the softmax's sum; may be empty
  T* captured = nullptr;                  ///< [batch, heads, queries, keys]: what `stage` computes
  Stage stage = Stage::kScores;

  bool hidden_are_zeros = true;  ///< what a query gives whose bias is -infinity for every key; false: no numbers

  /// Heads are spread over threads.
  void run() const;

 private:
  void run_head(int64_t b, int64_t h) const;
};

/// Softmax of a row in place; `extra` is one more score that takes its share of the sum (-infinity: none).
template <class T>
void softmax_row(T* row, int64_t n, double extra);

extern template struct Attend<float>;
extern template struct Attend<double>;
extern template void softmax_row<float>(float*, int64_t, double);
extern template void softmax_row<double>(double*, int64_t, double);

}  // namespace mlopt::reference
