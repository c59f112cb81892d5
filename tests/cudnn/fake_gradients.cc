// Gradients of convolutions, as fake_cudnn.cc has these.
#include <vector>

#include "tests/cudnn/descriptors.h"

namespace {

using namespace fake;

/// Gradients of the input and of the weights: what the sums of a convolution spread to, one for each.
template <class Add>
void for_products(const Operands& o, const Add& add) {
  const std::vector<int> window(o.w.dims.begin() + 2, o.w.dims.end());
  for (long i = 0; i < count(o.y.dims); ++i) {
    const std::vector<int> at = place(o.y.dims, i);
    const int group = at[1] / (o.w.dims[0] / o.conv.groups);
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
        add(offset(o.x, from), weight_offset(o.w, at[1], c, tap), offset(o.y, at));
      }
    }
  }
}

/// An algorithm that adds up in any order, then one that does not.
int propose_gradient(const Operands& o, int most, int* found, Proposal* into) {
  if (!fit(o) || most < 2) return kWrong;
  into[0] = {0, 0, -1, 0, 0, o.conv.math, {}};
  into[1] = {1, 0, -1, 16, 1, o.conv.math, {}};
  *found = 2;
  return 0;
}

void write_all(int type, void* at, const std::vector<float>& sums) {
  for (size_t i = 0; i < sums.size(); ++i) write(type, at, static_cast<long>(i), sums[i]);
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] int cudnnGetConvolutionBackwardDataAlgorithm_v7(void*, void* w, void* dy, void* conv,
                                                                               void* dx, int most, int* found,
                                                                               void* into) {
  const Operands o{as<Tensor>(dx), nullptr, as<Filter>(w), nullptr, as<Conv>(conv), as<Tensor>(dy), nullptr};
  return propose_gradient(o, most, found, static_cast<Proposal*>(into));
}

[[gnu::visibility("default")]] int cudnnGetConvolutionBackwardFilterAlgorithm_v7(void*, void* x, void* dy, void* conv,
                                                                                 void* dw, int most, int* found,
                                                                                 void* into) {
  const Operands o{as<Tensor>(x), nullptr, as<Filter>(dw), nullptr, as<Conv>(conv), as<Tensor>(dy), nullptr};
  return propose_gradient(o, most, found, static_cast<Proposal*>(into));
}

[[gnu::visibility("default")]] int cudnnConvolutionBackwardData(void*, const void*, void* w, const void* w_at, void* dy,
                                                                const void* dy_at, void* conv, int algorithm, void*,
                                                                size_t room_bytes, const void*, void* dx, void* dx_at) {
  const Operands o{as<Tensor>(dx), nullptr, as<Filter>(w), w_at, as<Conv>(conv), as<Tensor>(dy), nullptr};
  if (!fit(o) || algorithm != 1 || room_bytes < 16) return kWrong;
  ++state().input_gradients;
  std::vector<float> sums(static_cast<size_t>(count(o.x.dims)));
  for_products(o, [&](long x, long weight, long y) {
    sums[static_cast<size_t>(x)] += read(o.w.type, w_at, weight) * read(o.y.type, dy_at, y);
  });
  write_all(o.x.type, dx_at, sums);
  return 0;
}

[[gnu::visibility("default")]] int cudnnConvolutionBackwardFilter(void*, const void*, void* x, const void* x_at,
                                                                  void* dy, const void* dy_at, void* conv,
                                                                  int algorithm, void*, size_t room_bytes, const void*,
                                                                  void* dw, void* dw_at) {
  const Operands o{as<Tensor>(x), x_at, as<Filter>(dw), nullptr, as<Conv>(conv), as<Tensor>(dy), nullptr};
  if (!fit(o) || algorithm != 1 || room_bytes < 16) return kWrong;
  ++state().weight_gradients;
  std::vector<float> sums(static_cast<size_t>(count(o.w.dims)));
  for_products(o, [&](long from, long weight, long y) {
    sums[static_cast<size_t>(weight)] += read(o.x.type, x_at, from) * read(o.y.type, dy_at, y);
  });
  write_all(o.w.type, dw_at, sums);
  return 0;
}
}
