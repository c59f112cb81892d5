#include "backends/cpu/byte_pack.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/cpu/byte_quads.h"
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

/// Pairs, all panels of all groups.
Tensor pack_pairs(const ByteShape& s, const StoredTaps& w) {
  const BytePanels panels(s, ByteForm::kPairs, byte_kernels());
  Tensor packed = Tensor::zeros(DType::kI16, {panels.elements() * s.groups});
  auto* out = packed.mutable_data<int16_t>();
  for_panels(s, panels, [&](int64_t group, int64_t panel) {
    pack_panel(s, ByteForm::kPairs, w, group * panels.columns + panel * panels.width, panels.columns_of(panel),
               panels.width_of(panel), out + group * panels.elements() + panels.offset_of(panel));
  });
  return packed;
}

/// Quads, panel by panel. `totals`: of each column.
std::vector<QuadPanel> pack_quads(const ByteShape& s, const StoredTaps& w, int32_t* totals) {
  const BytePanels panels(s, ByteForm::kQuads, byte_kernels());
  std::vector<QuadPanel> all(static_cast<size_t>(s.groups * panels.count()));
  for_panels(s, panels, [&](int64_t group, int64_t panel) {
    const int64_t width = panels.width_of(panel), columns = panels.columns_of(panel);
    const int64_t first = group * panels.columns + panel * panels.width;
    std::vector<int8_t> weights(static_cast<size_t>(panels.depth * width), 0);
    pack_panel(s, ByteForm::kQuads, w, first, columns, width, weights.data());
    const int8_t* at = weights.data();
    for (int64_t k = 0; k < panels.depth; k += 4, at += 4 * width)
      for (int64_t c = 0; c < columns; ++c)
        totals[first + c] += at[4 * c] + at[4 * c + 1] + at[4 * c + 2] + at[4 * c + 3];
    all[static_cast<size_t>(group * panels.count() + panel)] = order_quads(std::move(weights), width);
  });
  return all;
}

/// Do they take less time than pairs, two of which make a step? Each step that is split takes twice as long, each two
/// steps that go together three quarters.
bool are_fast(const ByteShape& s, const std::vector<QuadPanel>& panels) {
  const int64_t steps = BytePanels(s, ByteForm::kQuads, byte_kernels()).depth / neighbours(ByteForm::kQuads);
  int64_t cost = 0;
  for (const QuadPanel& p : panels) cost += 4 * static_cast<int64_t>(p.order.size()) - 2 * p.twos;
  return cost <= 4 * steps * static_cast<int64_t>(panels.size());
}

/// [vector of channels][pair][lane][2]. `totals`: of each channel.
Tensor pack_depthwise(const ByteShape& s, const StoredTaps& w, int32_t* totals) {
  const int64_t lanes = byte_kernels().lanes, pairs = depthwise_pairs(s), width = s.axes[2].taps;
  Tensor packed = Tensor::zeros(DType::kI16, {padded_channels(s, byte_kernels()) * pairs * 2});
  auto* out = packed.mutable_data<int16_t>();
  for (int64_t c = 0; c < s.channels; ++c)
    for (int64_t tap = 0; tap < s.taps(); ++tap) {
      const int64_t pair = tap / width * ceil_div(width, 2) + tap % width / 2;
      const int32_t value = w.value(0, tap, c);
      out[((c / lanes * pairs + pair) * lanes + c % lanes) * 2 + tap % width % 2] = static_cast<int16_t>(value);
      totals[c] += value;
    }
  return packed;
}

}  // namespace

ByteShape ByteShape::product(int64_t m, int64_t k, int64_t n) {
  ByteShape s;
  s.channels = k;
  s.columns = n;
  s.axes[1].in = s.axes[1].out = m;
  return s;
}

ByteShape ByteShape::conv(const ConvShape& c) {
  ByteShape s;
  s.images = c.src[0];
  s.channels = c.src[1];
  s.columns = c.channels_out();
  s.groups = c.groups;
  const size_t axes = c.src.size() - 2, absent = s.axes.size() - axes;
  for (size_t k = 0; k < axes; ++k)
    s.axes[absent + k] = {c.src[2 + k],        c.dst[2 + k],          c.window.kernel[k],
                          c.window.strides[k], c.window.dilations[k], c.window.begin[k]};
  return s;
}

bool ByteShape::is_product() const {
  return groups == 1 && std::all_of(axes.begin(), axes.end(), [](const Axis& a) {
           return a.taps == 1 && a.stride == 1 && a.begin == 0 && a.in == a.out;
         });
}

std::string taps_form(const std::string& way, const std::vector<int32_t>& zeros) {
  const bool symmetric = std::all_of(zeros.begin(), zeros.end(), [](int32_t z) { return z == 0; });
  return fmt::format("{}, zero points {}", way, symmetric ? "0" : fmt::format("{}", fmt::join(zeros, " ")));
}

PackedTaps::PackedTaps(const ByteShape& s, const Tensor& weights, const std::vector<int32_t>& zeros, bool swapped) {
  const ByteWeights bytes = byte_weights(weights, zeros);
  const int64_t taps = s.taps(), inputs = s.group_channels() * taps;
  const StoredTaps w{
      bytes.numbers.data<int8_t>(),   bytes.zeros.data(), swapped ? 1 : inputs, swapped ? s.columns : taps, 1,
      bytes.zeros.size() == 1 ? 0 : 1};
  totals_.resize(static_cast<size_t>(s.columns), 0);
  if (s.is_depthwise()) {
    packed_ = pack_depthwise(s, w, totals_.data());
    return;
  }
  if (bytes.symmetric()) {
    const std::vector<QuadPanel> panels = pack_quads(s, w, totals_.data());
    if (are_fast(s, panels)) {
      join(panels);
      return;
    }
  }
  totals_.clear();
  packed_ = pack_pairs(s, w);
}

void PackedTaps::join(const std::vector<QuadPanel>& panels) {
  form_ = ByteForm::kQuads;
  int64_t weights = 0;
  for (const QuadPanel& p : panels) {
    const auto steps = static_cast<int64_t>(p.order.size());
    panels_.push_back({weights, static_cast<int64_t>(order_.size()), p.twos, steps - 2 * p.twos});
    order_.insert(order_.end(), p.order.begin(), p.order.end());
    weights += static_cast<int64_t>(p.weights.size());
  }
  packed_ = Tensor(DType::kI8, {weights});
  for (size_t i = 0; i < panels.size(); ++i)
    std::copy(panels[i].weights.begin(), panels[i].weights.end(), packed_.mutable_data<int8_t>() + panels_[i].weights);
}

PackedView PackedTaps::view() const {
  if (totals_.empty()) return {packed_.raw()};
  if (panels_.empty()) return {packed_.raw(), totals_.data()};
  return {packed_.raw(), totals_.data(), panels_.data(), order_.data()};
}

size_t PackedTaps::bytes() const {
  return packed_.bytes() + (totals_.size() + order_.size()) * sizeof(int32_t) + panels_.size() * sizeof(PanelSteps);
}

size_t packed_matrix_bytes(const ByteShape& s) {
  return static_cast<size_t>(BytePanels(s, ByteForm::kPairs, byte_kernels()).elements()) * sizeof(int16_t);
}

void pack_matrix(const ByteShape& s, Bytes matrix, int32_t zero, bool swapped, std::byte* out) {
  const BytePanels panels(s, ByteForm::kPairs, byte_kernels());
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
