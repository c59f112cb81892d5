#pragma once
// How kernels are written: once, as what one element or one block does, with the launch below. nvcc makes a kernel of
// it; the host's compiler makes loops of it, so that tests see what the same source computes.
#include "backends/gpu/device/number.h"

namespace mlopt::gpu {

/// Null, or what went wrong in words that stay.
using Status = const char*;

/// Where work is put, in order: a CUDA stream and its handles.
struct Queue;

/// A place outside of its axis that a kernel met, or an integer that it was to divide by zero: written by the device,
/// read by the host when it has waited.
struct Fault {
  int64_t step;  ///< the number that the host gave what it put in the queue; 0: there is none
  int64_t place;
  int64_t length;  ///< -1: a division by zero
};

/// Where the kernels of a queue report to. What another reports meanwhile may take its place.
struct Reporter {
  Fault* to;
  int64_t step;
  MLOPT_DEVICE void outside(int64_t place, int64_t length) const {
    to->place = place;
    to->length = length;
    to->step = step;
  }
  MLOPT_DEVICE void divided_by_zero() const { outside(0, -1); }
};
Reporter reporter_of(Queue& queue);

constexpr int kBlock = 256;

#ifdef __CUDACC__
Status launched();  ///< the last launch's status
cudaStream_t stream_of(Queue& queue);

template <class Fn>
__global__ void __launch_bounds__(kBlock) each_kernel(const Fn fn, int64_t count) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * kBlock;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * kBlock + threadIdx.x; i < count; i += step)
    fn(static_cast<uint32_t>(i));
}

/// fn(i) for all i below `count`, which is less than 2^31.
template <class Fn>
Status for_each(Queue& queue, int64_t count, const Fn& fn) {
  if (count == 0) return nullptr;
  const int64_t blocks = (count + kBlock - 1) / kBlock;
  each_kernel<<<static_cast<unsigned>(blocks), kBlock, 0, stream_of(queue)>>>(fn, count);
  return launched();
}

/// A block of threads that work together in phases. `Shared` is memory of all, `Local` of each thread, kept between
/// phases.
template <class Shared, class Local>
struct Block {
  Shared& shared;
  Local& local;
  int index;  ///< of the block
  int threads;

  /// fn(thread, local) by every thread; all have ended when it returns.
  template <class Fn>
  __device__ __forceinline__ void each(const Fn& fn) {
    fn(static_cast<int>(threadIdx.x), local);
    __syncthreads();
  }
};

template <class Work, int kThreads>
__global__ void __launch_bounds__(kThreads) block_kernel(const Work work) {
  __shared__ typename Work::Shared shared;
  typename Work::Local local;
  Block<typename Work::Shared, typename Work::Local> block{shared, local, static_cast<int>(blockIdx.x), kThreads};
  work(block);
}

/// work(block) for each block below `count`. Work has the types Shared and Local.
template <int kThreads, class Work>
Status for_blocks(Queue& queue, int64_t count, const Work& work) {
  if (count == 0) return nullptr;
  block_kernel<Work, kThreads><<<static_cast<unsigned>(count), kThreads, 0, stream_of(queue)>>>(work);
  return launched();
}
#else
template <class Fn>
Status for_each(Queue&, int64_t count, const Fn& fn) {
  for (int64_t i = 0; i < count; ++i) fn(static_cast<uint32_t>(i));
  return nullptr;
}

template <class Shared, class Local>
struct Block {
  Shared& shared;
  Local* locals;
  int index;
  int threads;

  template <class Fn>
  void each(const Fn& fn) {
    for (int t = 0; t < threads; ++t) fn(t, locals[t]);
  }
};

template <int kThreads, class Work>
Status for_blocks(Queue&, int64_t count, const Work& work) {
  static thread_local typename Work::Shared shared;
  static thread_local typename Work::Local locals[kThreads];
  for (int64_t i = 0; i < count; ++i) {
    Block<typename Work::Shared, typename Work::Local> block{shared, locals, static_cast<int>(i), kThreads};
    work(block);
  }
  return nullptr;
}
#endif

/// What threads of a block have found.
template <class T, int kThreads>
struct Partial {
  T partial[kThreads];
};
struct Nothing {};

/// Work<T, threads>{args} for each of `rows` rows. Short ones take one warp, so that no thread waits for nothing.
template <template <class, int> class Work, class T, class Args>
Status for_rows(Queue& queue, int64_t rows, int64_t length, const Args& args) {
  return length <= 128 ? for_blocks<32>(queue, rows, Work<T, 32>{args})
                       : for_blocks<256>(queue, rows, Work<T, 256>{args});
}

/// Combines block.shared.partial[0 .. threads) into partial[0]; threads is a power of two.
template <class B, class Fn>
MLOPT_DEVICE void combine(B& block, const Fn& fn) {
  for (int half = block.threads / 2; half > 0; half /= 2)
    block.each([&](int t, auto&) {
      auto* partial = block.shared.partial;
      if (t < half) partial[t] = fn(partial[t], partial[t + half]);
    });
}

}  // namespace mlopt::gpu
