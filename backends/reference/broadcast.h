#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "backends/reference/compute.h"
#include "core/base/parallel.h"

namespace mlopt::reference {

/// The common shape of the inputs under NumPy's broadcasting; throws naming the node.
Dims broadcast_dims(const Call& call, const std::vector<Dims>& shapes);

/// Walks the broadcast of N inputs in runs along the last axis after adjacent axes that all inputs step through alike
/// have been merged, so that equal shapes are a single run.
template <size_t N>
class Broadcast {
 public:
  /// Every shape must broadcast to `out`.
  Broadcast(const Dims& out, const std::array<Dims, N>& shapes) {
    for (size_t axis = 0; axis < out.size(); ++axis) {
      if (out[axis] == 1) continue;
      std::array<bool, N> moves;
      for (size_t k = 0; k < N; ++k) {
        const int64_t own = static_cast<int64_t>(axis) - static_cast<int64_t>(out.size() - shapes[k].size());
        moves[k] = own >= 0 && shapes[k][static_cast<size_t>(own)] != 1;
      }
      if (!dims_.empty() && moves == moves_.back())
        dims_.back() *= out[axis];
      else {
        dims_.push_back(out[axis]);
        moves_.push_back(moves);
      }
    }
    if (dims_.empty()) {
      dims_.push_back(1);
      moves_.emplace_back();
    }
    size_ = element_count(dims_);
    make_strides();
  }

  /// fn(start, count, offsets, steps) for runs that cover the output: output element start + i pairs with input element
  /// offsets[k] + i * steps[k]. Runs are spread over threads.
  template <class Fn>
  void for_runs(const Fn& fn) const {
    parallel_for(size_, 16384, [&](int64_t begin, int64_t end) { walk(begin, end, fn); });
  }

 private:
  void make_strides() {
    strides_.resize(dims_.size());
    std::array<int64_t, N> stride;
    stride.fill(1);
    for (size_t axis = dims_.size(); axis-- > 0;)
      for (size_t k = 0; k < N; ++k) {
        strides_[axis][k] = moves_[axis][k] ? stride[k] : 0;
        if (moves_[axis][k]) stride[k] *= dims_[axis];
      }
  }

  template <class Fn>
  void walk(int64_t begin, int64_t end, const Fn& fn) const {
    const int64_t row = dims_.back();
    while (begin < end) {
      const int64_t column = begin % row;
      const int64_t count = std::min(end - begin, row - column);
      std::array<int64_t, N> offsets{};
      int64_t rest = begin;
      for (size_t axis = dims_.size(); axis-- > 0; rest /= dims_[axis])
        for (size_t k = 0; k < N; ++k) offsets[k] += rest % dims_[axis] * strides_[axis][k];
      fn(begin, count, offsets, strides_.back());
      begin += count;
    }
  }

  Dims dims_;
  std::vector<std::array<bool, N>> moves_;
  std::vector<std::array<int64_t, N>> strides_;
  int64_t size_ = 0;
};

/// out[i] = fn(a, b) over two tensors of C++ types A and B that broadcast to `dims`.
template <class Out, class A, class B, class Fn>
Tensor broadcast_map(const Dims& dims, const Tensor& a, const Tensor& b, const Fn& fn) {
  Tensor out(dtype_of<Out>(), dims);
  Out* o = out.mutable_data<Out>();
  const A* x = a.data<A>();
  const B* y = b.data<B>();
  Broadcast<2>(dims, {a.dims(), b.dims()})
      .for_runs([&](int64_t start, int64_t count, const auto& at, const auto& step) {
        for (int64_t i = 0; i < count; ++i) o[start + i] = fn(x[at[0] + i * step[0]], y[at[1] + i * step[1]]);
      });
  return out;
}

/// `tensor` repeated to the shape `dims` that it broadcasts to; numeric types of 8 bits or more.
Tensor expanded(const Call& call, const Tensor& tensor, const Dims& dims);

}  // namespace mlopt::reference
