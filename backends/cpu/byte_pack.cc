#include "backends/cpu/byte_pack.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <span>

#include "backends/cpu/quantized.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

/// Weights as they are stored: int8, with distances between columns, channels of a group and taps.
struct StoredTaps {
  const int8_t* numbers;
  const int32_t* zeros;
  int64_t column, channel, tap, zero;

  int32_t value(int64_t k, int64_t t, int64_t c) const {
    return numbers[c * column + k * channel + t * tap] - zeros[c * zero];
  }
};

/// fn(group, panel) for all panels, on the threads of the plan.
template <class Fn>
void for_panels(const ByteShape& s, const BytePanels& panels, const Fn& fn) {
  constexpr int64_t kGrain = 65536;
  const int64_t work = panels.depth * panels.width + 1;
  parallel_for(s.groups * panels.count(), std::max<int64_t>(1, kGrain / work), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) fn(i / panels.count(), i % panels.count());
  });
}

template <class T>
void pack_panel(const ByteShape& s, ByteForm form, const StoredTaps& w, int64_t first, int64_t columns, int64_t width,
                T* out) {
  const int64_t together = neighbours(form), steps = ceil_div(s.segment_length(), together);
  const int64_t joined = s.joins_width() ? s.axes[2].taps : 1, channels = s.group_channels();
  for (int64_t tap = 0; tap < s.taps(); ++tap)
    for (int64_t k = 0; k < channels; ++k) {
      const int64_t i = tap % joined * channels + k;
      T* at = out + (tap / joined * steps + i / together) * width * together + i % together;
      for (int64_t c = 0; c < columns; ++c) at[c * together] = static_cast<T>(w.value(k, tap, first + c));
    }
}

template <class T>
Tensor pack_panels(const ByteShape& s, ByteForm form, const StoredTaps& w) {
  const BytePanels panels(s, form, byte_kernels());
  Tensor packed = Tensor::zeros(dtype_of<T>(), {panels.elements() * s.groups});
  T* out = packed.mutable_data<T>();
  for_panels(s, panels, [&](int64_t group, int64_t panel) {
    pack_panel(s, form, w, group * panels.columns + panel * panels.width, panels.columns_of(panel),
               panels.width_of(panel), out + group * panels.elements() + panels.offset_of(panel));
  });
  return packed;
}

/// Does 255 a + 255 b fit into 16 bits for every two weights that one instruction multiplies and adds?
bool pairs_fit(std::span<const int8_t> packed) {
  constexpr int kMost = 128;
  int most = 0;
  for (size_t i = 0; i + 1 < packed.size(); i += 2) most = std::max(most, std::abs(packed[i] + packed[i + 1]));
  return most <= kMost;
}

/// Of each column of packed quads.
std::vector<int32_t> totals_of(const ByteShape& s, const int8_t* packed) {
  const BytePanels panels(s, ByteForm::kQuads, byte_kernels());
  std::vector<int32_t> totals(static_cast<size_t>(s.columns), 0);
  for_panels(s, panels, [&](int64_t group, int64_t panel) {
    const int64_t width = panels.width_of(panel), columns = panels.columns_of(panel);
    const int8_t* at = packed + group * panels.elements() + panels.offset_of(panel);
    int32_t* total = totals.data() + group * panels.columns + panel * panels.width;
    for (int64_t k = 0; k < panels.depth; k += 4, at += 4 * width)
      for (int64_t c = 0; c < columns; ++c) total[c] += at[4 * c] + at[4 * c + 1] + at[4 * c + 2] + at[4 * c + 3];
  });
  return totals;
}

int64_t depthwise_elements(const ByteShape& s, const ByteKernels& k) {
  return padded_channels(s, k) * ceil_div(s.taps(), 2) * 2;
}

void pack_depthwise(const ByteShape& s, const ByteKernels& k, const StoredTaps& w, int16_t* out) {
  const int64_t block = depthwise_block(k), pairs = ceil_div(s.taps(), 2);
  std::fill_n(out, depthwise_elements(s, k), int16_t{0});
  for (int64_t c = 0; c < s.channels; ++c) {
    // The kernel interleaves two taps by 128 bits: every other 4 channels are in its first vector.
    const int64_t four = std::min<int64_t>(4, k.lanes), own = c % block;
    const int64_t vector = own / four % 2, lane = own / (2 * four) * four + own % four;
    int16_t* at = out + c / block * pairs * 4 * k.lanes + vector * 2 * k.lanes + 2 * lane;
    for (int64_t tap = 0; tap < s.taps(); ++tap)
      at[tap / 2 * 4 * k.lanes + tap % 2] = static_cast<int16_t>(w.value(0, tap, c));
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

std::string taps_form(const std::string& way, const std::vector<int32_t>& zeros, DType source) {
  const bool symmetric = std::all_of(zeros.begin(), zeros.end(), [](int32_t z) { return z == 0; });
  return fmt::format("{} for {}, zero points {}", way, name(source),
                     symmetric ? "0" : fmt::format("{}", fmt::join(zeros, " ")));
}

PackedTaps::PackedTaps(const ByteShape& s, const Tensor& weights, const std::vector<int32_t>& zeros, bool swapped,
                       DType source) {
  const ByteWeights bytes = byte_weights(weights, zeros);
  const int64_t taps = s.taps(), inputs = s.group_channels() * taps;
  const StoredTaps w{
      bytes.numbers.data<int8_t>(),   bytes.zeros.data(), swapped ? 1 : inputs, swapped ? s.columns : taps, 1,
      bytes.zeros.size() == 1 ? 0 : 1};
  if (s.is_depthwise()) {
    packed_ = Tensor(DType::kI16, {depthwise_elements(s, byte_kernels())});
    pack_depthwise(s, byte_kernels(), w, packed_.mutable_data<int16_t>());
    return;
  }
  if (!bytes.symmetric()) {
    form_ = ByteForm::kWidePairs;
    packed_ = pack_panels<int16_t>(s, form_, w);
    return;
  }
  if (source == DType::kU8) {
    form_ = ByteForm::kQuads;
    packed_ = pack_panels<int8_t>(s, form_, w);
    if (pairs_fit(packed_.span<int8_t>())) {
      totals_ = totals_of(s, packed_.data<int8_t>());
      return;
    }
  }
  form_ = ByteForm::kPairs;
  packed_ = pack_panels<int8_t>(s, form_, w);
}

size_t packed_matrix_bytes(const ByteShape& s) {
  return static_cast<size_t>(BytePanels(s, ByteForm::kWidePairs, byte_kernels()).elements()) * sizeof(int16_t);
}

void pack_matrix(const ByteShape& s, Bytes matrix, int32_t zero, bool swapped, std::byte* out) {
  const BytePanels panels(s, ByteForm::kWidePairs, byte_kernels());
  const auto* bytes = static_cast<const uint8_t*>(matrix.data);
  const int64_t down = swapped ? 1 : s.columns, along = swapped ? s.channels : 1;
  auto* all = reinterpret_cast<int16_t*>(out);
  std::fill_n(all, panels.elements(), int16_t{0});
  for_panels(s, panels, [&](int64_t, int64_t panel) {
    const int64_t first = panel * panels.width, step = 2 * panels.width_of(panel);
    for (int64_t k = 0; k < s.channels; ++k) {
      int16_t* at = all + panels.offset_of(panel) + k / 2 * step + k % 2;
      for (int64_t c = 0; c < panels.columns_of(panel); ++c) {
        const uint8_t b = bytes[k * down + (first + c) * along];
        at[2 * c] = static_cast<int16_t>((matrix.is_signed ? static_cast<int8_t>(b) : int32_t{b}) - zero);
      }
    }
  });
}

}  // namespace mlopt::cpu
