#pragma once
#include <cublasLt.h>
#include <cuda_runtime.h>

#include <array>
#include <cstdint>
#include <map>

#include "backends/gpu/interface.h"

namespace mlopt::gpu {

/// What tells products apart that run by one algorithm: sizes, types and how well operands are aligned.
using ProductKey = std::array<int64_t, 14>;

struct Queue {
  int device = 0;
  cudaStream_t stream = nullptr;
  cublasLtHandle_t blas = nullptr;
  Convolver* convolver = nullptr;
  SparseMultiplier* sparse = nullptr;
  void* working_memory = nullptr;  ///< from the first product on, where there is room
  Fault* fault = nullptr;          ///< the host's memory, which the device may write
  int64_t step = 1;
  cudaEvent_t start = nullptr, end = nullptr;  ///< of the clock
  cudaEvent_t passed = nullptr;                ///< for queues that follow
  std::map<ProductKey, cublasLtMatmulAlgo_t> algorithms;
  bool tunes = false;                                       ///< products that are new
  std::map<ProductKey, cublasLtMatmulAlgo_t> known, timed;  ///< before, and by this queue

  size_t working_bytes() const;
};

// What interface.cc offers from other files.
void tune(Queue* queue, const Choice* known, int64_t count);
int64_t chosen(Queue* queue, Choice* into);
Status sense(int device, Sensors* sensors);
Status energy(int device, double* joules);

struct Graph {
  cudaGraphExec_t ready;
};

inline constexpr size_t kWorkingBytes = size_t{32} << 20;
inline size_t Queue::working_bytes() const { return working_memory ? kWorkingBytes : 0; }

/// Null, or what went wrong, which is no error of the next call then.
inline Status in_words(cudaError_t error) {
  if (error == cudaSuccess) return nullptr;
  cudaGetLastError();
  return cudaGetErrorString(error);
}
inline Status in_words(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? nullptr : cublasLtGetStatusString(status);
}

}  // namespace mlopt::gpu
