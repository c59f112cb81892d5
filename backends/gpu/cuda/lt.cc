// cuBLASLt: layouts, and which algorithm runs a product.
#include "backends/gpu/cuda/lt.h"

#include <algorithm>
#include <vector>

namespace mlopt::gpu {
namespace {

using Preference = std::unique_ptr<cublasLtMatmulPreferenceOpaque_t,
                                   Destroy<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>>;

constexpr int kMostTried = 16;

/// The library's proposals, those first that it thinks best of.
Status propose(Queue& queue, const LtProduct& p, int most, std::vector<cublasLtMatmulAlgo_t>& into) {
  cublasLtMatmulPreference_t made = nullptr;
  if (const Status failed = in_words(cublasLtMatmulPreferenceCreate(&made))) return failed;
  const Preference preference(made);
  const uint32_t x = alignment(p.x_at), a = alignment(p.a_at), out = out_alignment(p.out_at, p.bias);
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t what, const auto& value) {
    cublasLtMatmulPreferenceSetAttribute(made, what, &value, sizeof value);
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, queue.working_bytes());
  // Partial sums of halves would overflow, and be rounded, in the type of the product.
  set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
      static_cast<uint32_t>(CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, x);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, a);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, out);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, out);
  cublasLtMatmulHeuristicResult_t results[kMostTried] = {};
  int found = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(queue.blas, p.how.get(), p.x.get(), p.a.get(),
                                                               p.out.get(), p.out.get(), made, most, results, &found);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) return kNoAlgorithm;
  for (int i = 0; i < found; ++i)
    if (results[i].state == CUBLAS_STATUS_SUCCESS) into.push_back(results[i].algo);
  return status == CUBLAS_STATUS_SUCCESS && into.empty() ? kNoAlgorithm : in_words(status);
}

/// Without it, while a graph is captured or where memory is full, products do with algorithms that need none.
void take_working_memory(Queue& queue) {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  cudaStreamIsCapturing(queue.stream, &capture);
  if (capture == cudaStreamCaptureStatusNone && cudaMalloc(&queue.working_memory, kWorkingBytes) != cudaSuccess)
    cudaGetLastError();
}

Status choose(Queue& queue, const LtProduct& p, const ProductKey& key, cublasLtMatmulAlgo_t* algorithm) {
  if (const auto known = known_before(queue, p, key)) {
    *algorithm = *known;
    return nullptr;
  }
  const bool tunes = tunes_now(queue);
  std::vector<cublasLtMatmulAlgo_t> proposed;
  if (const Status failed = propose(queue, p, tunes ? kMostTried : 1, proposed)) return failed;
  const auto timed = tunes ? fastest(queue, p, proposed) : std::nullopt;
  if (timed) queue.timed.emplace(key, *timed);
  *algorithm = timed.value_or(proposed.front());
  return nullptr;
}

}  // namespace

uint32_t alignment(const void* where) {
  const auto address = reinterpret_cast<uintptr_t>(where);
  return static_cast<uint32_t>(std::min<uintptr_t>(256, address & (~address + 1)));
}

uint32_t out_alignment(const void* out, const void* bias) {
  return bias ? std::min(alignment(out), alignment(bias)) : alignment(out);
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
    if (!queue.working_memory) take_working_memory(queue);
    cublasLtMatmulAlgo_t algorithm;
    if (const Status failed = choose(queue, p, key, &algorithm)) return failed;
    known = queue.algorithms.emplace(key, algorithm).first;
  }
  return multiply_by(queue, p, known->second, p.out_at);
}

}  // namespace mlopt::gpu
