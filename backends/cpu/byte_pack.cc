#include "backends/cpu/byte_pack.h"

#include <algorithm>

#include "backends/cpu/quantized.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

/// value(channel of the group, tap, column) of each group, in panels.
template <class T, class Value>
void pack_panels(const ByteShape& s, const ByteKernels& kernels, T* out, const Value& value) {
  const BytePanels panels(s, kernels);
  const int64_t channels = s.group_channels(), pairs = ceil_div(s.segment_length(), 2);
  const int64_t joined = s.joins_width() ? s.axes[2].taps : 1;
  std::fill_n(out, panels.elements() * s.groups, T{0});
  parallel_for(s.columns, std::max<int64_t>(1, 65536 / (panels.pairs + 1)), [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      const int64_t group = c / panels.columns, panel = c % panels.columns / panels.width;
      const int64_t own = c % panels.columns % panels.width, step = 2 * panels.width_of(panel);
      T* at = out + group * panels.elements() + panels.offset_of(panel) + 2 * own;
      for (int64_t segment = 0; segment < s.segments(); ++segment, at += pairs * step) {
        int64_t i = 0;
        for (int64_t tap = segment * joined; tap < (segment + 1) * joined; ++tap)
          for (int64_t channel = 0; channel < channels; ++channel, ++i)
            at[(i >> 1) * step + (i & 1)] = static_cast<T>(value(channel, tap, c));
      }
    }
  });
}

int64_t depthwise_elements(const ByteShape& s, const ByteKernels& k) {
  return padded_channels(s, k) * ceil_div(s.taps(), 2) * 2;
}

template <class Value>
void pack_depthwise(const ByteShape& s, const ByteKernels& k, int16_t* out, const Value& value) {
  const int64_t block = depthwise_block(k), pairs = ceil_div(s.taps(), 2);
  std::fill_n(out, depthwise_elements(s, k), int16_t{0});
  for (int64_t c = 0; c < s.channels; ++c) {
    // The kernel interleaves two taps by 128 bits: every other 4 channels are in its first vector.
    const int64_t four = std::min<int64_t>(4, k.lanes), own = c % block;
    const int64_t vector = own / four % 2, lane = own / (2 * four) * four + own % four;
    int16_t* at = out + c / block * pairs * 4 * k.lanes + vector * 2 * k.lanes + 2 * lane;
    for (int64_t tap = 0; tap < s.taps(); ++tap)
      at[tap / 2 * 4 * k.lanes + tap % 2] = static_cast<int16_t>(value(0, tap, c));
  }
}

}  // namespace

ByteShape ByteShape::product(int64_t m, int64_t k, int64_t n) {
  ByteShape s;
  s.channels = k;
  s.columns = n;
  s.axes[1].in = s.axes[1].out = m;
  return s;
}

bool ByteShape::is_product() const {
  return groups == 1 && std::all_of(axes.begin(), axes.end(), [](const Axis& a) {
           return a.taps == 1 && a.stride == 1 && a.begin == 0 && a.in == a.out;
         });
}

PackedTaps::PackedTaps(const ByteShape& s, const Tensor& weights, const std::vector<int32_t>& zeros, bool swapped) {
  const ByteKernels kernels = byte_kernels();
  const Tensor stored = weights.aligned();
  const bool is_signed = stored.dtype() == DType::kI8;
  const auto* bytes = reinterpret_cast<const uint8_t*>(stored.raw());
  const int64_t channels = s.group_channels(), taps = s.taps();
  const auto value = [&](int64_t channel, int64_t tap, int64_t column) {
    const uint8_t b = bytes[swapped ? channel * s.columns + column : (column * channels + channel) * taps + tap];
    return (is_signed ? static_cast<int8_t>(b) : int32_t{b}) - at(zeros, column);
  };
  const int32_t low = is_signed ? -128 : 0, high = low + 255;
  const bool narrow =
      std::all_of(zeros.begin(), zeros.end(), [&](int32_t z) { return low - z >= -128 && high - z < 128; });
  if (s.is_depthwise()) {
    packed_ = Tensor(DType::kI16, {depthwise_elements(s, kernels)});
    pack_depthwise(s, kernels, packed_.mutable_data<int16_t>(), value);
    return;
  }
  packed_ = Tensor(narrow ? DType::kI8 : DType::kI16, {BytePanels(s, kernels).elements() * s.groups});
  if (narrow)
    pack_panels(s, kernels, packed_.mutable_data<int8_t>(), value);
  else
    pack_panels(s, kernels, packed_.mutable_data<int16_t>(), value);
}

size_t packed_matrix_bytes(const ByteShape& s) {
  return static_cast<size_t>(BytePanels(s, byte_kernels()).elements()) * sizeof(int16_t);
}

void pack_matrix(const ByteShape& s, Bytes matrix, int32_t zero, bool swapped, std::byte* out) {
  const auto* bytes = static_cast<const uint8_t*>(matrix.data);
  const int64_t down = swapped ? 1 : s.columns, along = swapped ? s.channels : 1;
  pack_panels(s, byte_kernels(), reinterpret_cast<int16_t*>(out), [&](int64_t k, int64_t, int64_t column) {
    const uint8_t b = bytes[k * down + column * along];
    return (matrix.is_signed ? static_cast<int8_t>(b) : int32_t{b}) - zero;
  });
}

}  // namespace mlopt::cpu
