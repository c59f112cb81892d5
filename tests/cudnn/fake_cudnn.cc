// What stands for cuDNN in tests: convolutions as they are defined, of numbers in memory of the host, by descriptors as
// strict as the library's. It refuses what the library refuses, and counts what it is asked for.
#include "tests/cudnn/fake_cudnn.h"

#include <cstring>
#include <vector>

#include "tests/cudnn/descriptors.h"

namespace fake {

FakeCudnn& state() {
  static FakeCudnn only;
  return only;
}

}  // namespace fake

namespace {

using namespace fake;

constexpr int kFma = 3, kRelu = 1, kIdentity = 5, kPrecomputed = 1, kFft = 4, kWinograd = 6;

float sum_at(const Operands& o, const std::vector<int>& at) {
  const std::vector<int> window(o.w.dims.begin() + 2, o.w.dims.end());
  const int group = at[1] / (o.w.dims[0] / o.conv.groups);
  float sum = 0;
  for (long tap = 0; tap < count(window); ++tap) {
    const std::vector<int> taps = place(window, tap);
    std::vector<int> from = at;
    bool inside = true;
    for (size_t k = 0; k < window.size(); ++k) {
      from[k + 2] = at[k + 2] * o.conv.strides[k] - o.conv.pads[k] + taps[k] * o.conv.dilations[k];
      inside = inside && from[k + 2] >= 0 && from[k + 2] < o.x.dims[k + 2];
    }
    for (int c = 0; inside && c < o.w.dims[1]; ++c) {
      from[1] = group * o.w.dims[1] + c;
      sum += read(o.x.type, o.x_at, offset(o.x, from)) * read(o.w.type, o.w_at, weight_offset(o.w, at[1], c, tap));
    }
  }
  return sum;
}

size_t room_of(const Operands& o) { return static_cast<size_t>(count(o.y.dims)) * sizeof(float); }

int check(const Operands& o, int algorithm, void* room, size_t room_bytes) {
  if (!fit(o) || (o.w.format == kChannelsLast) != (o.x.strides[1] == 1 && o.x.dims[1] > 1)) return kWrong;
  state().channels_last += o.w.format == kChannelsLast;
  if (algorithm != kPrecomputed && algorithm != 0) return kNotSupported;
  if (algorithm == kPrecomputed) {
    if (room_bytes < room_of(o)) return kWrong;
    std::memset(room, 0x5a, room_of(o));
  }
  return 0;
}

/// As the library has it: what has most hope first, what cannot run last.
int propose(const Operands& o, int most, int* found, Proposal* into) {
  if (!fit(o)) return kWrong;
  const bool refused = o.conv.dilations.back() == state().refused_dilation ||
                       (o.w.format == kChannelsLast && state().refuses_channels_last);
  const Proposal all[] = {{kWinograd, 0, -1, 16, 0, o.conv.math, {}},
                          {kFft, 0, -1, ~size_t{0} / 2, 1, o.conv.math, {}},
                          {kPrecomputed, 0, -1, room_of(o), 1, o.conv.math, {}},
                          {0, 0, -1, 0, 1, o.conv.math, {}},
                          {3, kNotSupported, -1, 0, 1, o.conv.math, {}}};
  *found = 0;
  for (Proposal p : all) {
    if (*found == most) break;
    if (refused) p.status = kNotSupported;
    into[(*found)++] = p;
  }
  return 0;
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] FakeCudnn* fake_cudnn() { return &state(); }

[[gnu::visibility("default")]] size_t cudnnGetVersion() { return state().present ? 91900 : 0; }
[[gnu::visibility("default")]] const char* cudnnGetErrorString(int) { return "a stand-in's error"; }
[[gnu::visibility("default")]] int cudnnCreate(void** made) {
  *made = new int;
  return 0;
}
[[gnu::visibility("default")]] int cudnnDestroy(void* handle) {
  delete &as<int>(handle);
  return 0;
}
[[gnu::visibility("default")]] int cudnnSetStream(void*, void*) { return 0; }

[[gnu::visibility("default")]] int cudnnCreateTensorDescriptor(void** made) {
  *made = new Tensor;
  return 0;
}
[[gnu::visibility("default")]] int cudnnDestroyTensorDescriptor(void* handle) {
  delete &as<Tensor>(handle);
  return 0;
}
[[gnu::visibility("default")]] int cudnnSetTensorNdDescriptor(void* handle, int type, int rank, const int* dims,
                                                              const int* strides) {
  if (rank < 4) return kNotSupported;
  as<Tensor>(handle) = {type, {dims, dims + rank}, {strides, strides + rank}};
  return 0;
}
[[gnu::visibility("default")]] int cudnnCreateFilterDescriptor(void** made) {
  *made = new Filter;
  return 0;
}
[[gnu::visibility("default")]] int cudnnDestroyFilterDescriptor(void* handle) {
  delete &as<Filter>(handle);
  return 0;
}
[[gnu::visibility("default")]] int cudnnSetFilterNdDescriptor(void* handle, int type, int format, int rank,
                                                              const int* dims) {
  as<Filter>(handle) = {type, format, {dims, dims + rank}};
  return 0;
}
[[gnu::visibility("default")]] int cudnnCreateConvolutionDescriptor(void** made) {
  *made = new Conv;
  return 0;
}
[[gnu::visibility("default")]] int cudnnDestroyConvolutionDescriptor(void* handle) {
  delete &as<Conv>(handle);
  return 0;
}
[[gnu::visibility("default")]] int cudnnSetConvolutionNdDescriptor(void* handle, int rank, const int* pads,
                                                                   const int* strides, const int* dilations, int mode,
                                                                   int type) {
  if (mode != 1 || type != kFloat) return kNotSupported;
  as<Conv>(handle) = {{pads, pads + rank}, {strides, strides + rank}, {dilations, dilations + rank}};
  return 0;
}
[[gnu::visibility("default")]] int cudnnSetConvolutionGroupCount(void* handle, int groups) {
  as<Conv>(handle).groups = groups;
  return 0;
}
[[gnu::visibility("default")]] int cudnnSetConvolutionMathType(void* handle, int math) {
  as<Conv>(handle).math = math;
  state().exact += math == kFma;
  return 0;
}
[[gnu::visibility("default")]] int cudnnCreateActivationDescriptor(void** made) {
  *made = new Activation;
  return 0;
}
[[gnu::visibility("default")]] int cudnnDestroyActivationDescriptor(void* handle) {
  delete &as<Activation>(handle);
  return 0;
}
[[gnu::visibility("default")]] int cudnnSetActivationDescriptor(void* handle, int mode, int nan, double) {
  as<Activation>(handle).mode = mode;
  return nan == 1 ? 0 : kWrong;
}

[[gnu::visibility("default")]] int cudnnGetConvolutionForwardAlgorithm_v7(void*, void* x, void* w, void* conv, void* y,
                                                                          int most, int* found, void* into) {
  ++state().proposed;
  const Operands o{as<Tensor>(x), nullptr, as<Filter>(w), nullptr, as<Conv>(conv), as<Tensor>(y), nullptr};
  return propose(o, most, found, static_cast<Proposal*>(into));
}

/// The plain algorithm is the fastest here.
[[gnu::visibility("default")]] int cudnnFindConvolutionForwardAlgorithmEx(void*, void* x, const void* x_at, void* w,
                                                                          const void* w_at, void* conv, void* y,
                                                                          void* y_at, int most, int* found, void* into,
                                                                          void*, size_t) {
  ++state().timed;
  if (!x_at || !w_at || !y_at || most < 1) return kWrong;
  if (state().refuses_timing) return kNotSupported;
  const Operands o{as<Tensor>(x), x_at, as<Filter>(w), w_at, as<Conv>(conv), as<Tensor>(y), y_at};
  std::memset(y_at, 0x5a, static_cast<size_t>(count(o.y.dims)) * (o.y.type == kFloat ? 4 : 2));
  *static_cast<Proposal*>(into) = {0, 0, 1, 0, 1, o.conv.math, {}};
  *found = 1;
  return fit(o) ? 0 : kWrong;
}

[[gnu::visibility("default")]] int cudnnConvolutionForward(void*, const void* alpha, void* x, const void* x_at, void* w,
                                                           const void* w_at, void* conv, int algorithm, void* room,
                                                           size_t room_bytes, const void* beta, void* y, void* y_at) {
  const Operands o{as<Tensor>(x), x_at, as<Filter>(w), w_at, as<Conv>(conv), as<Tensor>(y), y_at};
  if (const int wrong = check(o, algorithm, room, room_bytes)) return wrong;
  if (*static_cast<const float*>(alpha) != 1 || *static_cast<const float*>(beta) != 0) return kWrong;
  ++state().plain;
  for (long i = 0; i < count(o.y.dims); ++i) {
    const std::vector<int> at = place(o.y.dims, i);
    write(o.y.type, y_at, offset(o.y, at), sum_at(o, at));
  }
  return 0;
}

[[gnu::visibility("default")]] int cudnnConvolutionBiasActivationForward(
    void*, const void* alpha, void* x, const void* x_at, void* w, const void* w_at, void* conv, int algorithm,
    void* room, size_t room_bytes, const void* beta, void* z, const void* z_at, void* bias, const void* bias_at,
    void* activation, void* y, void* y_at) {
  const Operands o{as<Tensor>(x), x_at, as<Filter>(w), w_at, as<Conv>(conv), as<Tensor>(y), y_at};
  if (const int wrong = check(o, algorithm, room, room_bytes)) return wrong;
  const int mode = as<Activation>(activation).mode;
  if (mode != kRelu && (mode != kIdentity || algorithm != kPrecomputed)) return kNotSupported;
  if (*static_cast<const float*>(alpha) != 1 || !bias_at || !z_at || as<Tensor>(z).dims != o.y.dims) return kWrong;
  if (as<Tensor>(bias).dims[1] != o.y.dims[1] || count(as<Tensor>(bias).dims) != o.y.dims[1]) return kWrong;
  ++state().fused;
  const float more = *static_cast<const float*>(beta);
  for (long i = 0; i < count(o.y.dims); ++i) {
    const std::vector<int> at = place(o.y.dims, i);
    float sum = sum_at(o, at) + read(o.y.type, bias_at, at[1]);
    if (more != 0) sum += more * read(o.y.type, z_at, offset(as<Tensor>(z), at));
    write(o.y.type, y_at, offset(o.y, at), mode == kRelu && sum < 0 ? 0 : sum);
  }
  return 0;
}
}
