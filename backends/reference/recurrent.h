#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backends/reference/compute.h"
#include "backends/reference/named_activation.h"

namespace mlopt::reference {

/// The attributes and sizes that RNN, GRU and LSTM share.
struct Recurrent {
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 1;
  int64_t gates = 1;
  bool first_is_reverse = false;        ///< direction "reverse"
  bool batch_first = false;             ///< layout 1
  std::vector<int64_t> lengths;         ///< of each sequence
  double clip = 0;                      ///< of what goes into an activation; 0: none
  std::vector<Activation> activations;  ///< all of the first direction, then those of the second

  /// Row of step t of sequence b in X [steps, batch, inputs] or [batch, steps, inputs].
  int64_t input_row(int64_t t, int64_t b) const { return batch_first ? b * steps + t : t * batch + b; }
  /// Row of direction d of sequence b in a state [directions, batch, hidden] or [batch, directions, hidden].
  int64_t state_row(int64_t d, int64_t b) const { return batch_first ? b * directions + d : d * batch + b; }
  /// The same in Y [steps, directions, batch, hidden] or [batch, steps, directions, hidden].
  int64_t output_row(int64_t t, int64_t d, int64_t b) const {
    return batch_first ? (b * steps + t) * directions + d : (t * directions + d) * batch + b;
  }
  Dims state_dims() const { return batch_first ? Dims{batch, directions, hidden} : Dims{directions, batch, hidden}; }
  Dims output_dims() const {
    return batch_first ? Dims{batch, steps, directions, hidden} : Dims{steps, directions, batch, hidden};
  }
  /// activation(x) after clipping.
  template <class T>
  T activate(const Activation& activation, T x) const {
    const T limit = static_cast<T>(clip);
    if (clip > 0) x = x < -limit ? -limit : x > limit ? limit : x;
    return activation(x);
  }
};

/// Reads and checks inputs X, W, R, B, sequence_lens (0 to 4) and the attributes; `defaults` names one direction's
/// activations. Throws Error{kBadInput} naming the node.
Recurrent read_recurrent(const Call& call, int64_t gates, const std::vector<std::string>& defaults);

/// The weights of all directions in type T; missing biases are zeros.
template <class T>
class RecurrentWeights {
 public:
  RecurrentWeights(const Call& call, const Recurrent& r);

  const T* input(int64_t d) const { return w_.data<T>() + d * rows_ * r_.inputs; }       ///< [gates * hidden, inputs]
  const T* recurrence(int64_t d) const { return u_.data<T>() + d * rows_ * r_.hidden; }  ///< [gates * hidden, hidden]
  const T* input_bias(int64_t d) const { return b_.data<T>() + d * 2 * rows_; }          ///< [gates * hidden]
  const T* recurrence_bias(int64_t d) const { return input_bias(d) + rows_; }

  /// out [batch, gates * hidden] = h [batch, hidden] R' + the bias of R, for the gates [from, to) only.
  void recur(int64_t d, int64_t from, int64_t to, const T* h, T* out) const;

 private:
  const Recurrent& r_;
  int64_t rows_;
  Tensor w_, u_, b_;
};

/// One step of direction d for the whole batch: `x` is X W' + the bias of W, [batch, gates * hidden]; the states h, and
/// c of an LSTM, [batch, hidden], are replaced.
template <class T>
using RecurrentStep = std::function<void(int64_t d, const T* x, T* h, T* c)>;

/// Runs all directions and steps from initial_h (input 5) and, when `has_cell`, initial_c (input 6), and sets Y, Y_h
/// and Y_c.
template <class T>
void run_recurrent(Call& call, const Recurrent& r, const RecurrentWeights<T>& weights, bool has_cell,
                   const RecurrentStep<T>& step);

extern template class RecurrentWeights<float>;
extern template class RecurrentWeights<double>;
extern template void run_recurrent<float>(Call&, const Recurrent&, const RecurrentWeights<float>&, bool,
                                          const RecurrentStep<float>&);
extern template void run_recurrent<double>(Call&, const Recurrent&, const RecurrentWeights<double>&, bool,
                                           const RecurrentStep<double>&);

}  // namespace mlopt::reference
