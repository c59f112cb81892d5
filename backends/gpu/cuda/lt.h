#pragma once
#include <memory>
#include <optional>
#include <span>
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
  const void *x_at, *a_at, *bias;  ///< bias: null where there is none
  void* out_at;
  const void *alpha, *beta;  ///< of the type that `how` scales in
  size_t out_bytes;
};

/// cublasLtMatmul into `out`, of the form that p.out has.
inline Status multiply_by(Queue& queue, const LtProduct& p, const cublasLtMatmulAlgo_t& algorithm, void* out) {
  return in_words(cublasLtMatmul(queue.blas, p.how.get(), p.alpha, p.x_at, p.x.get(), p.a_at, p.a.get(), p.beta,
                                 p.out_at, p.out.get(), out, p.out.get(), &algorithm, queue.working_memory,
                                 queue.working_bytes(), queue.stream));
}

/// The fastest of these for the product, each timed; none where they cannot be.
std::optional<cublasLtMatmulAlgo_t> fastest(Queue& queue, const LtProduct& p,
                                            std::span<const cublasLtMatmulAlgo_t> algorithms);
/// The algorithm that was known before, where the library still takes it.
std::optional<cublasLtMatmulAlgo_t> known_before(Queue& queue, const LtProduct& p, const ProductKey& key);

/// The bytes to whose multiple the address is, at most 256.
uint32_t alignment(const void* where);
/// Of both; the library has no preference for a bias, which may be null.
uint32_t out_alignment(const void* out, const void* bias);

/// Runs it by the algorithm that was chosen for the key; kNoAlgorithm where there is none.
Status run_product(Queue& queue, const LtProduct& product, const ProductKey& key);

}  // namespace mlopt::gpu
