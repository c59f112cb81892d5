// cuBLASLt: layouts, and which algorithm runs a product.
#include "backends/gpu/cuda/lt.h"

#include <algorithm>

namespace mlopt::gpu {
namespace {

using Preference = std::unique_ptr<cublasLtMatmulPreferenceOpaque_t,
                                   Destroy<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>>;

Status find(Queue& queue, const LtProduct& p, cublasLtMatmulAlgo_t* algorithm) {
  cublasLtMatmulPreference_t made = nullptr;
  if (const Status failed = in_words(cublasLtMatmulPreferenceCreate(&made))) return failed;
  const Preference preference(made);
  const uint32_t x = alignment(p.x_at), a = alignment(p.a_at), out = alignment(p.out_at);
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t what, const auto& value) {
    cublasLtMatmulPreferenceSetAttribute(made, what, &value, sizeof value);
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkingBytes);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, x);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, a);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, out);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, out);
  cublasLtMatmulHeuristicResult_t best{};
  int found = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(queue.blas, p.how.get(), p.x.get(), p.a.get(),
                                                               p.out.get(), p.out.get(), made, 1, &best, &found);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || (status == CUBLAS_STATUS_SUCCESS && found == 0)) return kNoAlgorithm;
  *algorithm = best.algo;
  return in_words(status);
}

}  // namespace

uint32_t alignment(const void* where) {
  const auto address = reinterpret_cast<uintptr_t>(where);
  return static_cast<uint32_t>(std::min<uintptr_t>(256, address & (~address + 1)));
}

Layout layout(cudaDataType_t type, int64_t rows, int64_t columns, int64_t batch, int64_t stride) {
  cublasLtMatrixLayout_t made = nullptr;
  if (cublasLtMatrixLayoutCreate(&made, type, static_cast<uint64_t>(columns), static_cast<uint64_t>(rows), columns) !=
      CUBLAS_STATUS_SUCCESS)
    return nullptr;
  Layout result(made);
  const auto count = static_cast<int32_t>(batch);
  cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count);
  cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride);
  return result;
}

Status run_product(Queue& queue, const LtProduct& p, const ProductKey& key) {
  if (!p.how || !p.x || !p.a || !p.out) return "cuBLAS cannot describe this product";
  cudaSetDevice(queue.device);
  auto known = queue.algorithms.find(key);
  if (known == queue.algorithms.end()) {
    cublasLtMatmulAlgo_t algorithm;
    if (const Status failed = find(queue, p, &algorithm)) return failed;
    known = queue.algorithms.emplace(key, algorithm).first;
  }
  return in_words(cublasLtMatmul(queue.blas, p.how.get(), p.alpha, p.x_at, p.x.get(), p.a_at, p.a.get(), p.beta,
                                 p.out_at, p.out.get(), p.out_at, p.out.get(), &known->second, queue.working_memory,
                                 kWorkingBytes, queue.stream));
}

}  // namespace mlopt::gpu
