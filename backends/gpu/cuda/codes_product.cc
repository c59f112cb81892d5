// Products of signed 8-bit codes by cuBLASLt, which has tensor cores add them up in 32 bits where both operands lie in
// rows along k: in its terms, the first transposed and the second not.
#include "backends/gpu/cuda/lt.h"

namespace mlopt::gpu {
namespace {

Operation operation() {
  cublasLtMatmulDesc_t made = nullptr;
  if (cublasLtMatmulDescCreate(&made, CUBLAS_COMPUTE_32I, CUDA_R_32I) != CUBLAS_STATUS_SUCCESS) return nullptr;
  Operation result(made);
  const cublasOperation_t first = CUBLAS_OP_T;
  cublasLtMatmulDescSetAttribute(made, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof first);
  return result;
}

ProductKey key_of(const CodesProductArgs& args) {
  return {static_cast<int64_t>(Elem::kI8),
          0,
          0,
          args.batch,
          args.m,
          args.n,
          args.k,
          args.a_stride,
          args.x_stride,
          args.out_stride,
          0,
          alignment(args.a),
          alignment(args.x),
          alignment(args.out)};
}

}  // namespace

Status codes_product(Queue& queue, const CodesProductArgs& args) {
  const int32_t one = 1, zero = 0;
  const LtProduct product{operation(),
                          layout(CUDA_R_8I, args.n, args.k, args.batch, args.x_stride),
                          layout(CUDA_R_8I, args.m, args.k, args.batch, args.a_stride),
                          layout(CUDA_R_32I, args.m, args.n, args.batch, args.out_stride),
                          args.x,
                          args.a,
                          args.out,
                          &one,
                          &zero,
                          static_cast<size_t>((args.batch - 1) * args.out_stride + args.m * args.n) * sizeof(int32_t)};
  const Status failed = run_product(queue, product, key_of(args));
  return failed == kNoAlgorithm ? codes_product_in_tiles(queue, args) : failed;
}

}  // namespace mlopt::gpu
