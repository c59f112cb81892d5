#pragma once
// What the library that stands for cuDNN keeps of tensors, filters and convolutions, and how it finds numbers by these.
#include <vector>

#include "backends/gpu/device/number.h"
#include "tests/cudnn/fake_cudnn.h"

namespace fake {

using mlopt::gpu::Brain;
using mlopt::gpu::Half;
using mlopt::gpu::narrow;
using mlopt::gpu::widen;

constexpr int kWrong = 2000, kNotSupported = 3000;
constexpr int kFloat = 0, kHalf = 2, kBFloat16 = 9, kChannelsLast = 1;

/// The only one there is.
FakeCudnn& state();

struct Tensor {
  int type = -1;
  std::vector<int> dims, strides;
};
struct Filter {
  int type = -1, format = -1;
  std::vector<int> dims;
};
struct Conv {
  std::vector<int> pads, strides, dilations;
  int groups = 1, math = -1;
};
struct Activation {
  int mode = -1;
};
struct Proposal {
  int algorithm, status;
  float milliseconds;
  size_t room;
  int determinism, math, reserved[3];
};
struct Operands {
  const Tensor& x;
  const void* x_at;
  const Filter& w;
  const void* w_at;
  const Conv& conv;
  const Tensor& y;
  void* y_at;
};

inline float read(int type, const void* at, long i) {
  if (type == kHalf) return widen(static_cast<const Half*>(at)[i]);
  return type == kBFloat16 ? widen(static_cast<const Brain*>(at)[i]) : static_cast<const float*>(at)[i];
}
inline void write(int type, void* at, long i, float value) {
  if (type == kHalf)
    static_cast<Half*>(at)[i] = narrow<Half>(value);
  else if (type == kBFloat16)
    static_cast<Brain*>(at)[i] = narrow<Brain>(value);
  else
    static_cast<float*>(at)[i] = value;
}

inline long count(const std::vector<int>& dims) {
  long n = 1;
  for (const int d : dims) n *= d;
  return n;
}

/// The index of number `i` of these dims along each axis.
inline std::vector<int> place(const std::vector<int>& dims, long i) {
  std::vector<int> at(dims.size());
  for (size_t k = dims.size(); k-- > 0; i /= dims[k]) at[k] = static_cast<int>(i % dims[k]);
  return at;
}
inline long offset(const Tensor& t, const std::vector<int>& at) {
  long sum = 0;
  for (size_t k = 0; k < at.size(); ++k) sum += static_cast<long>(at[k]) * t.strides[k];
  return sum;
}
/// Weights [m, c, ...] as they lie: [m, ..., c] channels-last.
inline long weight_offset(const Filter& w, int m, int c, long tap) {
  const long channels = w.dims[1], taps = count(w.dims) / (channels * w.dims[0]);
  return w.format == kChannelsLast ? (m * taps + tap) * channels + c : (m * channels + c) * taps + tap;
}

/// Do the descriptors describe one convolution, in a type that has tensor cores told so?
inline bool fit(const Operands& o) {
  const size_t rank = o.conv.pads.size();
  if (o.x.type != o.y.type || o.x.type != o.w.type || o.x.dims.size() != rank + 2 || o.w.dims.size() != rank + 2)
    return false;
  if (o.y.dims[0] != o.x.dims[0] || o.y.dims[1] != o.w.dims[0] || o.w.dims[1] * o.conv.groups != o.x.dims[1])
    return false;
  if ((o.x.type != kFloat) != (o.conv.math == 1)) return false;
  for (size_t k = 0; k < rank; ++k) {
    const int extent = (o.w.dims[k + 2] - 1) * o.conv.dilations[k] + 1;
    if ((o.x.dims[k + 2] + 2 * o.conv.pads[k] - extent) / o.conv.strides[k] + 1 != o.y.dims[k + 2]) return false;
  }
  return true;
}

template <class T>
T& as(void* handle) {
  return *static_cast<T*>(handle);
}

}  // namespace fake
