#include "backends/cpu/byte_pack.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
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

/// Columns [begin, end), each in the order in which the tiles read it, at [column][depth]; what is missing is 0
/// already.
template <class T>
void gather(const ByteShape& s, ByteForm form, const StoredTaps& w, int64_t begin, int64_t end, T* out, int64_t depth) {
  const int64_t length = s.segment_length(), whole = ceil_div(length, neighbours(form)) * neighbours(form);
  const int64_t joined = s.joins_width() ? s.axes[2].taps : 1, channels = s.group_channels();
  for (int64_t tap = 0; tap < s.taps(); ++tap) {
    T* first = out + tap / joined * whole + tap % joined * channels;
    if (w.column != 1) {
      for (int64_t c = begin; c < end; ++c)
        for (int64_t k = 0; k < channels; ++k) first[c * depth + k] = static_cast<T>(w.value(k, tap, c));
      continue;
    }
    for (int64_t k = 0; k < channels; ++k)  // neighbours in memory first
      for (int64_t c = begin; c < end; ++c) first[c * depth + k] = static_cast<T>(w.value(k, tap, c));
  }
}

/// A gathered column's place in its panel.
template <class T, int64_t kTogether>
void scatter_column(const T* column, int64_t depth, int64_t width, T* out) {
  for (int64_t k = 0; k < depth; k += kTogether, out += width * kTogether) std::copy_n(column + k, kTogether, out);
}

/// Columns are packed on the threads of the plan: fn(first, last).
template <class Fn>
void for_columns(const ByteShape& s, int64_t depth, const Fn& fn) {
  constexpr int64_t kGrain = 65536;
  parallel_for(s.columns, std::max<int64_t>(1, kGrain / (depth + 1)), fn);
}

/// columns: as gathered().
template <class T>
void pack_panels(const ByteShape& s, ByteForm form, const T* columns, T* out) {
  const BytePanels panels(s, form, byte_kernels());
  std::fill_n(out, panels.elements() * s.groups, T{0});
  for_columns(s, panels.depth, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      const int64_t group = c / panels.columns, panel = c % panels.columns / panels.width;
      const int64_t own = c % panels.columns % panels.width, width = panels.width_of(panel);
      T* at = out + group * panels.elements() + panels.offset_of(panel) + neighbours(form) * own;
      if (form == ByteForm::kQuads)
        scatter_column<T, 4>(columns + c * panels.depth, panels.depth, width, at);
      else
        scatter_column<T, 2>(columns + c * panels.depth, panels.depth, width, at);
    }
  });
}

/// All columns one after the other, [column][depth].
template <class T>
Tensor gathered(const ByteShape& s, ByteForm form, const StoredTaps& w) {
  constexpr int64_t kTogether = 32;  // columns that are read side by side: as many lines as the first cache holds
  const int64_t depth = BytePanels(s, form, byte_kernels()).depth;
  Tensor columns = Tensor::zeros(dtype_of<T>(), {s.columns, depth});
  T* out = columns.mutable_data<T>();
  for_columns(s, depth, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; c += kTogether) gather(s, form, w, c, std::min(end, c + kTogether), out, depth);
  });
  return columns;
}

/// Does 255 a + 255 b fit into 16 bits for every two weights that one instruction multiplies and adds?
bool pairs_fit(std::span<const int8_t> weights) {
  constexpr int kMost = 128;
  int most = 0;
  for (size_t i = 0; i + 1 < weights.size(); i += 2) most = std::max(most, std::abs(weights[i] + weights[i + 1]));
  return most <= kMost;
}

std::vector<int32_t> totals_of(const Tensor& columns) {
  const auto depth = static_cast<size_t>(columns.dim(1));
  std::vector<int32_t> totals;
  for (size_t c = 0; c < static_cast<size_t>(columns.dim(0)); ++c) {
    const auto column = columns.span<int8_t>().subspan(c * depth, depth);
    totals.push_back(std::accumulate(column.begin(), column.end(), int32_t{0}));
  }
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
  const bool narrow = bytes.symmetric();
  form_ = !narrow ? ByteForm::kWidePairs : source == DType::kU8 ? ByteForm::kQuads : ByteForm::kPairs;
  Tensor columns = narrow ? gathered<int8_t>(s, form_, w) : gathered<int16_t>(s, form_, w);
  if (form_ == ByteForm::kQuads && !pairs_fit(columns.span<int8_t>())) {
    form_ = ByteForm::kPairs;
    columns = gathered<int8_t>(s, form_, w);
  }
  if (form_ == ByteForm::kQuads) totals_ = totals_of(columns);
  packed_ = Tensor(columns.dtype(), {BytePanels(s, form_, byte_kernels()).elements() * s.groups});
  if (narrow)
    pack_panels(s, form_, columns.data<int8_t>(), packed_.mutable_data<int8_t>());
  else
    pack_panels(s, form_, columns.data<int16_t>(), packed_.mutable_data<int16_t>());
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
  for_columns(s, panels.depth, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      const int64_t panel = c / panels.width, step = 2 * panels.width_of(panel);
      int16_t* at = all + panels.offset_of(panel) + 2 * (c % panels.width);
      for (int64_t k = 0; k < s.channels; ++k) {
        const uint8_t b = bytes[k * down + c * along];
        at[k / 2 * step + k % 2] =
            static_cast<int16_t>((matrix.is_signed ? static_cast<int8_t>(b) : int32_t{b}) - zero);
      }
    }
  });
}

}  // namespace mlopt::cpu
