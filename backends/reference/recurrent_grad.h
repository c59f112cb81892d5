#pragma once
#include <functional>
#include <vector>

#include "backends/reference/recurrent.h"

namespace mlopt::reference {

/// The derivative of an activation where its value is y. Throws Error{kBadInput} for one that this does not determine.
template <class T>
T slope_at(const Call& call, const Activation& activation, T y) {
  switch (activation.kind) {
    case Activation::Kind::kSigmoid:
      return y * (1 - y);
    case Activation::Kind::kTanh:
      return 1 - y * y;
    case Activation::Kind::kRelu:
      return y > 0 ? T{1} : T{0};
    default:
      fail(call, "no derivative of the activation");
  }
}

/// What a cell's forward step computed, kept for its backward step: `kinds` matrices [batch, hidden] for each direction
/// and step, made in the order in which run_recurrent() takes them.
template <class T>
class Trace {
 public:
  Trace(const Recurrent& r, int64_t kinds)
      : size_(r.batch * r.hidden),
        steps_(r.steps),
        kinds_(kinds),
        kept_(dtype_of<T>(), Dims{r.directions, steps_, kinds, size_}) {}

  /// The matrices of the next step to be taken.
  T* next() { return kept_.mutable_data<T>() + taken_++ * kinds_ * size_; }
  const T* at(int64_t d, int64_t step, int64_t kind) const {
    return kept_.data<T>() + ((d * steps_ + step) * kinds_ + kind) * size_;
  }

 private:
  int64_t size_, steps_, kinds_, taken_ = 0;
  Tensor kept_;
};

/// One step backward of direction d for the whole batch. From the gradients of the states after it, dh and dc, both
/// [batch, hidden], makes those of the states before it, and in `sum` [batch, gates * hidden] that of X W' + the bias
/// of W. Sequences that have ended have zeros throughout.
template <class T>
using BackwardStep = std::function<void(int64_t d, int64_t step, T* dh, T* dc, T* sum)>;

/// The backward pass of a recurrent layer: the layer's inputs 0 to 7, then the gradients of Y, Y_h and Y_c (8 to 10).
template <class T>
class RecurrentGrad {
 public:
  RecurrentGrad(Call& call, const Recurrent& r, const RecurrentWeights<T>& weights);

  /// Adds up the gradients of R and its bias for the gates [from, to), and adds that of h to dh: `sum` [batch, gates *
  /// hidden] is the gradient of h R' + the bias of R.
  void recur(int64_t d, int64_t from, int64_t to, const T* sum, const T* h, T* dh);
  void run(bool has_cell, const BackwardStep<T>& step);
  /// Sets the outputs: the gradients of X, W, R, B, initial_h, and initial_c.
  void write(Call& call, bool has_cell) const;

 private:
  void project(int64_t d, const Tensor& sums);
  std::vector<T> final_gradient(int input, int64_t d) const;
  void store_initial(Tensor& all, int64_t d, const std::vector<T>& state) const;

  const Call& call_;
  const Recurrent& r_;
  const RecurrentWeights<T>& weights_;
  int64_t rows_;  ///< gates * hidden
  Tensor x_, dx_, dw_, dr_, db_, dh_, dc_;
};

extern template class RecurrentGrad<float>;
extern template class RecurrentGrad<double>;

}  // namespace mlopt::reference
