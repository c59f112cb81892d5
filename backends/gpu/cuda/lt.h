#pragma once
#include <memory>
#include <type_traits>

#include "backends/gpu/cuda/queue.h"

namespace mlopt::gpu {

inline constexpr Status kNoAlgorithm = "cuBLAS has no algorithm for this product";

template <class Handle, cublasStatus_t (*destroy)(Handle)>
struct Destroy {
  void operator()(std::remove_pointer_t<Handle>* handle) const { destroy(handle); }
};
using Layout =
    std::unique_ptr<cublasLtMatrixLayoutOpaque_t, Destroy<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>>;
using Operation = std::unique_ptr<cublasLtMatmulDescOpaque_t, Destroy<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>>;

/// A row-major matrix as cuBLASLt, which counts columns first, sees it: its transpose. Null where it refuses.
Layout layout(cudaDataType_t type, int64_t rows, int64_t columns, int64_t batch, int64_t stride);

/// What `a x` is in the terms of the library: first operand x, second a, both as their transposes.
struct LtProduct {
  Operation how;
  Layout x, a, out;
  const void *x_at, *a_at;
  void* out_at;
  const void *alpha, *beta;  ///< of the type that `how` scales in
};

/// The bytes to whose multiple the address is, at most 256.
uint32_t alignment(const void* where);

/// Runs it by the algorithm that was chosen for the key; kNoAlgorithm where there is none.
Status run_product(Queue& queue, const LtProduct& product, const ProductKey& key);

}  // namespace mlopt::gpu
