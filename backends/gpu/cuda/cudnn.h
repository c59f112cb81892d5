#pragma once
#include <cstddef>

namespace mlopt::gpu::dnn {

// What is needed of cuDNN's interface, 8 or 9, which is fixed: cudnn_header.cc compares it with the header.
using Code = int;                                            // cudnnStatus_t; 0: success
using Handle = void*;                                        // of the library, or of what it describes
constexpr int kFloat = 0, kHalf = 2, kBFloat16 = 9;          // cudnnDataType_t
constexpr int kRowMajor = 0, kChannelsLast = 1;              // cudnnTensorFormat_t
constexpr int kDefaultMath = 0, kTensorOps = 1, kFma = 3;    // cudnnMathType_t; the first may round float32 to TF32
constexpr int kCrossCorrelation = 1, kPropagateNan = 1;      // cudnnConvolutionMode_t, cudnnNanPropagation_t
constexpr int kRelu = 1, kIdentity = 5, kDeterministic = 1;  // cudnnActivationMode_t, cudnnDeterminism_t
constexpr int kPrecomputed = 1, kAlgorithms = 8;             // cudnnConvolutionFwdAlgo_t: implicit product; how many

/// cudnnConvolutionFwdAlgoPerf_t.
struct Proposal {
  int algorithm, status;
  float milliseconds;
  size_t room;
  int determinism, math, reserved[3];
};

struct Library {
  size_t (*version)() = nullptr;
  const char* (*error)(Code) = nullptr;
  Code (*create)(Handle*) = nullptr;
  Code (*destroy)(Handle) = nullptr;
  Code (*set_stream)(Handle, void* stream) = nullptr;
  Code (*create_tensor)(Handle*) = nullptr;
  Code (*destroy_tensor)(Handle) = nullptr;
  Code (*set_tensor)(Handle, int type, int rank, const int* dims, const int* strides) = nullptr;
  Code (*create_filter)(Handle*) = nullptr;
  Code (*destroy_filter)(Handle) = nullptr;
  Code (*set_filter)(Handle, int type, int format, int rank, const int* dims) = nullptr;
  Code (*create_conv)(Handle*) = nullptr;
  Code (*destroy_conv)(Handle) = nullptr;
  Code (*set_conv)(Handle, int rank, const int* pads, const int* strides, const int* dilations, int mode,
                   int type) = nullptr;
  Code (*set_groups)(Handle, int) = nullptr;
  Code (*set_math)(Handle, int) = nullptr;
  Code (*create_activation)(Handle*) = nullptr;
  Code (*destroy_activation)(Handle) = nullptr;
  Code (*set_activation)(Handle, int mode, int nan, double limit) = nullptr;
  /// The library's proposals, those first that it thinks best of; (x, weights, conv, out).
  Code (*propose)(Handle, Handle, Handle, Handle, Handle, int most, int* found, Proposal*) = nullptr;
  /// The same, each timed with operands of the caller's.
  Code (*time)(Handle, Handle, const void* x, Handle, const void* weights, Handle, Handle, void* out, int most,
               int* found, Proposal*, void* room, size_t room_bytes) = nullptr;
  Code (*convolve)(Handle, const void* alpha, Handle, const void* x, Handle, const void* weights, Handle, int algorithm,
                   void* room, size_t room_bytes, const void* beta, Handle, void* out) = nullptr;
  Code (*convolve_fused)(Handle, const void* alpha, Handle, const void* x, Handle, const void* weights, Handle,
                         int algorithm, void* room, size_t room_bytes, const void* beta, Handle, const void* addend,
                         Handle, const void* bias, Handle activation, Handle, void* out) = nullptr;
  /// (weights, gradient of out, conv, gradient of x).
  Code (*propose_data)(Handle, Handle, Handle, Handle, Handle, int most, int* found, Proposal*) = nullptr;
  Code (*convolve_data)(Handle, const void* alpha, Handle, const void* weights, Handle, const void* grad, Handle,
                        int algorithm, void* room, size_t room_bytes, const void* beta, Handle, void* out) = nullptr;
  /// (x, gradient of out, conv, gradient of the weights).
  Code (*propose_filter)(Handle, Handle, Handle, Handle, Handle, int most, int* found, Proposal*) = nullptr;
  Code (*convolve_filter)(Handle, const void* alpha, Handle, const void* x, Handle, const void* grad, Handle,
                          int algorithm, void* room, size_t room_bytes, const void* beta, Handle, void* out) = nullptr;
  bool ready = false;
};

/// Loaded when first asked for, and kept; not `ready` where it is missing.
const Library& library();

}  // namespace mlopt::gpu::dnn
