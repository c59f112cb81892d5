// Matrix products by cuBLASLt. It counts columns first: out' = x' a', so that operands change places.
#include "backends/gpu/cuda/lt.h"

namespace mlopt::gpu {
namespace {

cudaDataType_t type_of(Elem type) {
  return type == Elem::kF16 ? CUDA_R_16F : type == Elem::kBF16 ? CUDA_R_16BF : CUDA_R_32F;
}

cublasLtEpilogue_t epilogue_of(const ProductArgs& args) {
  const bool bias = args.bias != nullptr;
  if (args.act.fn == Fn::kRelu) return bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
  if (args.act.fn == Fn::kGeluTanh) return bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
  return bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
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

ProductKey key_of(const ProductArgs& args) {
  return {static_cast<int64_t>(args.type),
          args.wide_out * 8 + args.tf32 * 4 + args.a_transposed * 2 + args.b_transposed,
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
          out_alignment(args.out, args.bias)};
}

Status multiply(Queue& queue, const ProductArgs& args) {
  const int64_t m = args.m, n = args.n, k = args.k;
  const cudaDataType_t type = type_of(args.type);
  const LtProduct product{
      operation(args),
      args.b_transposed ? layout(type, n, k, args.batch, args.b_stride) : layout(type, k, n, args.batch, args.b_stride),
      args.a_transposed ? layout(type, k, m, args.batch, args.a_stride) : layout(type, m, k, args.batch, args.a_stride),
      layout(args.wide_out ? CUDA_R_32F : type, m, n, args.batch, args.out_stride),
      args.b,
      args.a,
      args.bias,
      args.out,
      &args.alpha,
      &args.beta,
      static_cast<size_t>((args.batch - 1) * args.out_stride + m * n) * sizeof(float)};
  return run_product(queue, product, key_of(args));
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
