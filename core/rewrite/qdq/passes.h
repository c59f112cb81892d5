#pragma once
#include "core/rewrite/pass.h"

// Operators between DequantizeLinear and QuantizeLinear as operators on the integers themselves, which the CPU backend
// runs and the quantizer writes. One pass for each file of this folder.
namespace mlopt::qdq {

// Those that end in a QuantizeLinear go first: what is left then leaves the integers for good.
extern const Pass moves;
extern const Pass split;
extern const Pass conv;
extern const Pass matmul;
extern const Pass gemm;
extern const Pass pointwise;
extern const Pass average_pool;
extern const Pass concat;
extern const Pass matmul_float;
extern const Pass gemm_float;
extern const Pass dynamic_matmul;
extern const Pass integer_matmul_bias;
extern const Pass float8_matmul;    // for devices that have such products
extern const Pass float8_weights;   // for devices that unpack these in registers
extern const Pass integer_weights;  // the same

// Of stored tables, for runtimes and devices alike.
extern const Pass gather_before_dequantize;

// The other way: com.microsoft's products by stored weights (MatMulNBits, MatMulBnb4) by floats.
extern const Pass widen_blocks;

}  // namespace mlopt::qdq
