// What cudnn.h of this folder says, held against the library's own header where there is one.
#if __has_include(<cudnn.h>)
#include <cudnn.h>

#include <type_traits>

#include "backends/gpu/cuda/cudnn.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace mlopt::gpu::dnn {
namespace {

/// A parameter as it crosses: pointers and enumerations are what they are passed as.
template <class T>
using Passed = std::conditional_t<std::is_pointer_v<T>, void*, std::conditional_t<std::is_enum_v<T>, int, T>>;

template <class A, class B>
constexpr bool kSame = false;
template <class A, class... As, class B, class... Bs>
constexpr bool kSame<A(As...), B(Bs...)> = std::is_same_v<Passed<A>(Passed<As>...), Passed<B>(Passed<Bs>...)>;

template <class Ours, class Theirs>
constexpr bool same(Ours* Library::*, Theirs*) {
  return kSame<Ours, Theirs>;
}

static_assert(same(&Library::version, cudnnGetVersion));
static_assert(same(&Library::error, cudnnGetErrorString));
static_assert(same(&Library::create, cudnnCreate));
static_assert(same(&Library::destroy, cudnnDestroy));
static_assert(same(&Library::set_stream, cudnnSetStream));
static_assert(same(&Library::create_tensor, cudnnCreateTensorDescriptor));
static_assert(same(&Library::destroy_tensor, cudnnDestroyTensorDescriptor));
static_assert(same(&Library::set_tensor, cudnnSetTensorNdDescriptor));
static_assert(same(&Library::create_filter, cudnnCreateFilterDescriptor));
static_assert(same(&Library::destroy_filter, cudnnDestroyFilterDescriptor));
static_assert(same(&Library::set_filter, cudnnSetFilterNdDescriptor));
static_assert(same(&Library::create_conv, cudnnCreateConvolutionDescriptor));
static_assert(same(&Library::destroy_conv, cudnnDestroyConvolutionDescriptor));
static_assert(same(&Library::set_conv, cudnnSetConvolutionNdDescriptor));
static_assert(same(&Library::set_groups, cudnnSetConvolutionGroupCount));
static_assert(same(&Library::set_math, cudnnSetConvolutionMathType));
static_assert(same(&Library::create_activation, cudnnCreateActivationDescriptor));
static_assert(same(&Library::destroy_activation, cudnnDestroyActivationDescriptor));
static_assert(same(&Library::set_activation, cudnnSetActivationDescriptor));
static_assert(same(&Library::propose, cudnnGetConvolutionForwardAlgorithm_v7));
static_assert(same(&Library::time, cudnnFindConvolutionForwardAlgorithmEx));
static_assert(same(&Library::convolve, cudnnConvolutionForward));
static_assert(same(&Library::convolve_fused, cudnnConvolutionBiasActivationForward));
static_assert(same(&Library::propose_data, cudnnGetConvolutionBackwardDataAlgorithm_v7));
static_assert(same(&Library::convolve_data, cudnnConvolutionBackwardData));
static_assert(same(&Library::propose_filter, cudnnGetConvolutionBackwardFilterAlgorithm_v7));
static_assert(same(&Library::convolve_filter, cudnnConvolutionBackwardFilter));

static_assert(sizeof(Proposal) == sizeof(cudnnConvolutionFwdAlgoPerf_t));
static_assert(sizeof(Proposal) == sizeof(cudnnConvolutionBwdDataAlgoPerf_t));
static_assert(sizeof(Proposal) == sizeof(cudnnConvolutionBwdFilterAlgoPerf_t));
static_assert(offsetof(Proposal, room) == offsetof(cudnnConvolutionFwdAlgoPerf_t, memory));
static_assert(offsetof(Proposal, determinism) == offsetof(cudnnConvolutionFwdAlgoPerf_t, determinism));
static_assert(offsetof(Proposal, math) == offsetof(cudnnConvolutionFwdAlgoPerf_t, mathType));

static_assert(kFloat == CUDNN_DATA_FLOAT && kHalf == CUDNN_DATA_HALF && kBFloat16 == CUDNN_DATA_BFLOAT16);
static_assert(kRowMajor == CUDNN_TENSOR_NCHW && kChannelsLast == CUDNN_TENSOR_NHWC);
static_assert(kDefaultMath == CUDNN_DEFAULT_MATH && kTensorOps == CUDNN_TENSOR_OP_MATH && kFma == CUDNN_FMA_MATH);
static_assert(kCrossCorrelation == CUDNN_CROSS_CORRELATION && kPropagateNan == CUDNN_PROPAGATE_NAN);
static_assert(kRelu == CUDNN_ACTIVATION_RELU && kIdentity == CUDNN_ACTIVATION_IDENTITY);
static_assert(kDeterministic == CUDNN_DETERMINISTIC && CUDNN_STATUS_SUCCESS == 0);
static_assert(kPrecomputed == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM);
static_assert(kAlgorithms == CUDNN_CONVOLUTION_FWD_ALGO_COUNT);

}  // namespace
}  // namespace mlopt::gpu::dnn
#endif
