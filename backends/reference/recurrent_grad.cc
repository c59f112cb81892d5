#include "backends/reference/recurrent_grad.h"

#include "core/base/gemm.h"

namespace mlopt::reference {

template <class T>
RecurrentGrad<T>::RecurrentGrad(Call& call, const Recurrent& r, const RecurrentWeights<T>& weights)
    : call_(call), r_(r), weights_(weights), rows_(r.gates * r.hidden), x_(as(call.in(0), dtype_of<T>())) {
  const auto zeros = [](Dims dims) { return Tensor::zeros(dtype_of<T>(), std::move(dims)); };
  dx_ = zeros(x_.dims());
  dw_ = zeros({r.directions, rows_, r.inputs});
  dr_ = zeros({r.directions, rows_, r.hidden});
  db_ = zeros({r.directions, 2 * rows_});
  dh_ = dc_ = zeros(r.state_dims());
  for (const int i : {8, 9, 10})
    require(call, !call.has(i) || call.in(i).dims() == (i == 8 ? r.output_dims() : r.state_dims()),
            "a gradient has not the shape of its output");
}

template <class T>
void RecurrentGrad<T>::recur(int64_t d, int64_t from, int64_t to, const T* sum, const T* h, T* dh) {
  const int64_t first = from * r_.hidden, count = (to - from) * r_.hidden;
  const T* part = sum + first;
  T* bias = db_.mutable_data<T>() + (2 * d + 1) * rows_ + first;
  for (int64_t b = 0; b < r_.batch; ++b)
    for (int64_t i = 0; i < count; ++i) bias[i] += part[b * rows_ + i];
  gemm<T>(count, r_.hidden, r_.batch, transpose_of(part, rows_), rows_of(h, r_.hidden),
          dr_.mutable_data<T>() + (d * rows_ + first) * r_.hidden, r_.hidden, true);
  gemm<T>(r_.batch, r_.hidden, count, rows_of(part, rows_),
          rows_of(weights_.recurrence(d) + first * r_.hidden, r_.hidden), dh, r_.hidden, true);
}

/// The gradients of X, W and the bias of W from `sums` [steps * batch, gates * hidden], in the order of X's rows.
template <class T>
void RecurrentGrad<T>::project(int64_t d, const Tensor& sums) {
  const int64_t count = r_.steps * r_.batch;
  const T* s = sums.data<T>();
  T* bias = db_.mutable_data<T>() + 2 * d * rows_;
  for (int64_t row = 0; row < count; ++row)
    for (int64_t i = 0; i < rows_; ++i) bias[i] += s[row * rows_ + i];
  gemm<T>(count, r_.inputs, rows_, rows_of(s, rows_), rows_of(weights_.input(d), r_.inputs), dx_.mutable_data<T>(),
          r_.inputs, true);
  gemm<T>(rows_, r_.inputs, count, transpose_of(s, rows_), rows_of(x_.data<T>(), r_.inputs),
          dw_.mutable_data<T>() + d * rows_ * r_.inputs, r_.inputs);
}

template <class T>
std::vector<T> RecurrentGrad<T>::final_gradient(int input, int64_t d) const {
  std::vector<T> state(static_cast<size_t>(r_.batch * r_.hidden));
  if (!call_.has(input)) return state;
  const Tensor given = as(call_.in(input), dtype_of<T>());
  for (int64_t b = 0; b < r_.batch; ++b)
    std::copy_n(given.data<T>() + r_.state_row(d, b) * r_.hidden, r_.hidden, state.data() + b * r_.hidden);
  return state;
}

template <class T>
void RecurrentGrad<T>::store_initial(Tensor& all, int64_t d, const std::vector<T>& state) const {
  for (int64_t b = 0; b < r_.batch; ++b)
    std::copy_n(state.data() + b * r_.hidden, r_.hidden, all.mutable_data<T>() + r_.state_row(d, b) * r_.hidden);
}

template <class T>
void RecurrentGrad<T>::run(bool has_cell, const BackwardStep<T>& step) {
  const int64_t hidden = r_.hidden;
  const Tensor dy = call_.has(8) ? as(call_.in(8), dtype_of<T>()) : Tensor::zeros(dtype_of<T>(), r_.output_dims());
  for (int64_t d = 0; d < r_.directions; ++d) {
    const bool reverse = r_.first_is_reverse || d == 1;
    std::vector<T> dh = final_gradient(9, d), dc = final_gradient(10, d), now_h(dh.size()), now_c(dh.size());
    std::vector<T> sum(static_cast<size_t>(r_.batch * rows_));
    Tensor sums = Tensor::zeros(dtype_of<T>(), {r_.steps * r_.batch, rows_});
    for (int64_t s = r_.steps; s-- > 0;) {
      // A sequence that has ended (reversed: not begun) kept its state.
      const auto active = [&](int64_t b) { return s < r_.lengths[static_cast<size_t>(b)]; };
      const auto place = [&](int64_t b) { return reverse ? r_.lengths[static_cast<size_t>(b)] - 1 - s : s; };
      for (int64_t b = 0; b < r_.batch; ++b)
        for (int64_t i = b * hidden, k = 0; k < hidden; ++i, ++k) {
          const auto at = static_cast<size_t>(i);
          now_h[at] = active(b) ? dh[at] + dy.data<T>()[r_.output_row(place(b), d, b) * hidden + k] : T{0};
          now_c[at] = active(b) ? dc[at] : T{0};
        }
      step(d, s, now_h.data(), now_c.data(), sum.data());
      for (int64_t b = 0; b < r_.batch; ++b) {
        if (!active(b)) continue;
        std::copy_n(now_h.data() + b * hidden, hidden, dh.data() + b * hidden);
        std::copy_n(now_c.data() + b * hidden, hidden, dc.data() + b * hidden);
        std::copy_n(sum.data() + b * rows_, rows_, sums.mutable_data<T>() + r_.input_row(place(b), b) * rows_);
      }
    }
    project(d, sums);
    store_initial(dh_, d, dh);
    if (has_cell) store_initial(dc_, d, dc);
  }
}

template <class T>
void RecurrentGrad<T>::write(Call& call, bool has_cell) const {
  const DType type = call.in(0).dtype();
  int i = 0;
  for (const Tensor* grad : {&dx_, &dw_, &dr_, &db_, &dh_}) call.set(i++, as(*grad, type));
  if (has_cell) call.set(i, as(dc_, type));
}

template class RecurrentGrad<float>;
template class RecurrentGrad<double>;

}  // namespace mlopt::reference
