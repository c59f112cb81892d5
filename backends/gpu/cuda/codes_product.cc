// Products of signed 8-bit codes, and of floats of 8 bits, by cuBLASLt, which has tensor cores add them up in 32 bits
// where both operands lie in rows along k: in its terms, the first transposed and the second not.
#include "backends/gpu/cuda/lt.h"

namespace mlopt::gpu {
namespace {

Operation operation(cublasComputeType_t compute, cudaDataType_t scale) {
  cublasLtMatmulDesc_t made = nullptr;
  if (cublasLtMatmulDescCreate(&made, compute, scale) != CUBLAS_STATUS_SUCCESS) return nullptr;
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

cudaDataType_t type_of(Float8 type) { return type.exponent == 4 ? CUDA_R_8F_E4M3 : CUDA_R_8F_E5M2; }

/// Types from 100 on are none of Elem's.
ProductKey key_of(const Float8ProductArgs& args) {
  return {100 + args.a_type.exponent, args.x_type.exponent, 0, 1, args.m, args.n, args.k, 0, 0, 0, 0, alignment(args.a),
          alignment(args.x),          alignment(args.out)};
}

}  // namespace

Status codes_product(Queue& queue, const CodesProductArgs& args) {
  const int32_t one = 1, zero = 0;
  const LtProduct product{operation(CUBLAS_COMPUTE_32I, CUDA_R_32I),
                          layout(CUDA_R_8I, args.n, args.k, args.batch, args.x_stride),
                          layout(CUDA_R_8I, args.m, args.k, args.batch, args.a_stride),
                          layout(CUDA_R_32I, args.m, args.n, args.batch, args.out_stride),
                          args.x,
                          args.a,
                          nullptr,
                          args.out,
                          &one,
                          &zero,
                          static_cast<size_t>((args.batch - 1) * args.out_stride + args.m * args.n) * sizeof(int32_t)};
  const Status failed = run_product(queue, product, key_of(args));
  return failed == kNoAlgorithm ? codes_product_in_tiles(queue, args) : failed;
}

Status float8_product(Queue& queue, const Float8ProductArgs& args) {
  const float one = 1, zero = 0;
  const LtProduct product{operation(CUBLAS_COMPUTE_32F, CUDA_R_32F),
                          layout(type_of(args.x_type), args.n, args.k, 1, 0),
                          layout(type_of(args.a_type), args.m, args.k, 1, 0),
                          layout(CUDA_R_32F, args.m, args.n, 1, 0),
                          args.x,
                          args.a,
                          nullptr,
                          args.out,
                          &one,
                          &zero,
                          static_cast<size_t>(args.m * args.n) * sizeof(float)};
  const Status failed = run_product(queue, product, key_of(args));
  return failed == kNoAlgorithm ? float8_product_alone(queue, args) : failed;
}

}  // namespace mlopt::gpu
