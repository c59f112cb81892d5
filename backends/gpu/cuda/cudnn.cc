// cuDNN is opened where it is installed: it is needed neither to build nor to start. Nothing here, nor in
// cudnn_conv.cc, knows of CUDA: tests bring a library of their own.
#include "backends/gpu/cuda/cudnn.h"

#include <mutex>

#include "backends/gpu/conv_library.h"
#include "backends/gpu/cuda/opened.h"

namespace mlopt::gpu {
namespace dnn {
namespace {

void open(Library& l) {
  Opened library(nullptr);
  for (const char* name : kConvLibraries)
    if (!library) library = Opened(name);
  if (!library) return;
  const auto find = [&](const char* name, auto& function) { return library.find(name, function); };
  l.ready =
      find("cudnnGetVersion", l.version) && find("cudnnGetErrorString", l.error) && find("cudnnCreate", l.create) &&
      find("cudnnDestroy", l.destroy) && find("cudnnSetStream", l.set_stream) &&
      find("cudnnCreateTensorDescriptor", l.create_tensor) && find("cudnnDestroyTensorDescriptor", l.destroy_tensor) &&
      find("cudnnSetTensorNdDescriptor", l.set_tensor) && find("cudnnCreateFilterDescriptor", l.create_filter) &&
      find("cudnnDestroyFilterDescriptor", l.destroy_filter) && find("cudnnSetFilterNdDescriptor", l.set_filter) &&
      find("cudnnCreateConvolutionDescriptor", l.create_conv) &&
      find("cudnnDestroyConvolutionDescriptor", l.destroy_conv) &&
      find("cudnnSetConvolutionNdDescriptor", l.set_conv) && find("cudnnSetConvolutionGroupCount", l.set_groups) &&
      find("cudnnSetConvolutionMathType", l.set_math) && find("cudnnCreateActivationDescriptor", l.create_activation) &&
      find("cudnnDestroyActivationDescriptor", l.destroy_activation) &&
      find("cudnnSetActivationDescriptor", l.set_activation) &&
      find("cudnnGetConvolutionForwardAlgorithm_v7", l.propose) &&
      find("cudnnFindConvolutionForwardAlgorithmEx", l.time) && find("cudnnConvolutionForward", l.convolve) &&
      find("cudnnConvolutionBiasActivationForward", l.convolve_fused) &&
      find("cudnnGetConvolutionBackwardDataAlgorithm_v7", l.propose_data) &&
      find("cudnnConvolutionBackwardData", l.convolve_data) &&
      find("cudnnGetConvolutionBackwardFilterAlgorithm_v7", l.propose_filter) &&
      find("cudnnConvolutionBackwardFilter", l.convolve_filter);
}

}  // namespace

const Library& library() {
  static std::mutex mutex;
  static Library loaded;
  const std::lock_guard lock(mutex);
  if (!loaded.ready) open(loaded);
  return loaded;
}

}  // namespace dnn

int conv_version() {
  const dnn::Library& l = dnn::library();
  return l.ready ? static_cast<int>(l.version()) : 0;
}

}  // namespace mlopt::gpu
