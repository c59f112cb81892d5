// Matrix products by cuBLASLt. It counts columns first: out' = x' a', so that operands change places.
#include <algorithm>
#include <memory>

#include "backends/gpu/cuda/queue.h"

namespace mlopt::gpu {
namespace {

constexpr Status kNoAlgorithm = "cuBLAS has no algorithm for this product";

cudaDataType_t type_of(Elem type) {
  return type == Elem::kF16 ? CUDA_R_16F : type == Elem::kBF16 ? CUDA_R_16BF : CUDA_R_32F;
}

cublasLtEpilogue_t epilogue_of(const ProductArgs& args) {
  const bool bias = args.bias != nullptr;
  if (args.act.fn == Fn::kRelu) return bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
  if (args.act.fn == Fn::kGeluTanh) return bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
  return bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

/// The bytes to whose multiple the address is, at most 256.
uint32_t alignment(const void* where) {
  const auto address = reinterpret_cast<uintptr_t>(where);
  return static_cast<uint32_t>(std::min<uintptr_t>(256, address & (~address + 1)));
}

template <class Handle, cublasStatus_t (*destroy)(Handle)>
struct Destroy {
  void operator()(std::remove_pointer_t<Handle>* handle) const { destroy(handle); }
};
using Layout =
    std::unique_ptr<cublasLtMatrixLayoutOpaque_t, Destroy<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>>;
using Operation = std::unique_ptr<cublasLtMatmulDescOpaque_t, Destroy<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>>;
using Preference = std::unique_ptr<cublasLtMatmulPreferenceOpaque_t,
                                   Destroy<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>>;

/// A row-major matrix as the library sees it: its transpose.
Layout layout(Elem type, int64_t rows, int64_t columns, int64_t batch, int64_t stride) {
  cublasLtMatrixLayout_t made = nullptr;
  if (cublasLtMatrixLayoutCreate(&made, type_of(type), static_cast<uint64_t>(columns), static_cast<uint64_t>(rows),
                                 columns) != CUBLAS_STATUS_SUCCESS)
    return nullptr;
  Layout result(made);
  const auto count = static_cast<int32_t>(batch);
  cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count);
  cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride);
  return result;
}

Operation operation(const ProductArgs& args) {
  cublasLtMatmulDesc_t made = nullptr;
  const auto how = args.tf32 && args.type == Elem::kF32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  if (cublasLtMatmulDescCreate(&made, how, CUDA_R_32F) != CUBLAS_STATUS_SUCCESS) return nullptr;
  Operation result(made);
  const cublasOperation_t first = args.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t second = args.a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasLtEpilogue_t epilogue = epilogue_of(args);
  cublasLtMatmulDescSetAttribute(made, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof first);
  cublasLtMatmulDescSetAttribute(made, CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof second);
  cublasLtMatmulDescSetAttribute(made, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
  if (args.bias) cublasLtMatmulDescSetAttribute(made, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &args.bias, sizeof args.bias);
  return result;
}

struct Product {
  Operation how;
  Layout x, a, out;
};

Status find(Queue& queue, const ProductArgs& args, const Product& p, cublasLtMatmulAlgo_t* algorithm) {
  cublasLtMatmulPreference_t made = nullptr;
  if (const Status failed = in_words(cublasLtMatmulPreferenceCreate(&made))) return failed;
  const Preference preference(made);
  const uint32_t x = alignment(args.b), a = alignment(args.a), out = alignment(args.out);
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
  const Status failed = in_words(cublasLtMatmulAlgoGetHeuristic(queue.blas, p.how.get(), p.x.get(), p.a.get(),
                                                                p.out.get(), p.out.get(), made, 1, &best, &found));
  if (failed) return failed;
  if (found == 0) return kNoAlgorithm;
  *algorithm = best.algo;
  return nullptr;
}

ProductKey key_of(const ProductArgs& args) {
  return {static_cast<int64_t>(args.type),
          args.tf32 * 4 + args.a_transposed * 2 + args.b_transposed,
          static_cast<int64_t>(epilogue_of(args)),
          args.batch,
          args.m,
          args.n,
          args.k,
          args.a_stride,
          args.b_stride,
          args.out_stride,
          args.beta != 0,
          alignment(args.a),
          alignment(args.b),
          alignment(args.out)};
}

Status multiply(Queue& queue, const ProductArgs& args) {
  const int64_t m = args.m, n = args.n, k = args.k;
  Product p{operation(args),
            args.b_transposed ? layout(args.type, n, k, args.batch, args.b_stride)
                              : layout(args.type, k, n, args.batch, args.b_stride),
            args.a_transposed ? layout(args.type, k, m, args.batch, args.a_stride)
                              : layout(args.type, m, k, args.batch, args.a_stride),
            layout(args.type, m, n, args.batch, args.out_stride)};
  if (!p.how || !p.x || !p.a || !p.out) return "cuBLAS cannot describe this product";
  cudaSetDevice(queue.device);
  const ProductKey key = key_of(args);
  auto known = queue.algorithms.find(key);
  if (known == queue.algorithms.end()) {
    cublasLtMatmulAlgo_t algorithm;
    if (const Status failed = find(queue, args, p, &algorithm)) return failed;
    known = queue.algorithms.emplace(key, algorithm).first;
  }
  return in_words(cublasLtMatmul(queue.blas, p.how.get(), &args.alpha, args.b, p.x.get(), args.a, p.a.get(), &args.beta,
                                 args.out, p.out.get(), args.out, p.out.get(), &known->second, queue.working_memory,
                                 kWorkingBytes, queue.stream));
}

}  // namespace

Status product(Queue& queue, const ProductArgs& args) {
  const Status failed = multiply(queue, args);
  if (failed != kNoAlgorithm || args.act.fn == Fn::kNone) return failed;
  // Not every type has every epilogue.
  ProductArgs plain = args;
  plain.act = {};
  if (const Status again = multiply(queue, plain)) return again;
  for (int64_t i = 0; i < args.batch; ++i) {
    void* out = static_cast<char*>(args.out) + i * args.out_stride * (args.type == Elem::kF32 ? 4 : 2);
    if (const Status wrong = eltwise(queue, {args.type, args.act, out, out, args.m * args.n})) return wrong;
  }
  return nullptr;
}

}  // namespace mlopt::gpu
