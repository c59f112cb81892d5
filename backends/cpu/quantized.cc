#include "backends/cpu/quantized.h"

#include <algorithm>

#include "core/tensor/cast.h"

namespace mlopt::cpu {

bool has_byte_products() {
  constexpr int kVnni256 = static_cast<int>(dnnl::cpu_isa::avx2_vnni) & ~static_cast<int>(dnnl::cpu_isa::avx2);
  constexpr int kVnni512 =
      static_cast<int>(dnnl::cpu_isa::avx512_core_vnni) & ~static_cast<int>(dnnl::cpu_isa::avx512_core);
  return (static_cast<int>(dnnl::get_effective_cpu_isa()) & (kVnni256 | kVnni512)) != 0;
}

namespace {

/// Does 255 * a + 255 * b fit into 16 bits for every two weights that are neighbours in a sum? Primitives sum over the
/// input channels of one place first, from an even one on. With an odd number of them, any two may be neighbours.
bool pairs_fit(const Tensor& weights, int axis) {
  constexpr int kMostPair = 128;
  const auto all = weights.span<int8_t>();
  const int64_t channels = weights.dim(axis), length = channels ? weights.size() / channels : 0;
  const int64_t inputs = weights.rank() > 2 ? weights.dim(1) : length, places = inputs ? length / inputs : 0;
  if (inputs % 2 != 0)
    return std::all_of(all.begin(), all.end(), [](int8_t v) { return std::abs(v) <= kMostPair / 2; });
  const auto element = [&](int64_t c, int64_t i, int64_t place) {
    return all[static_cast<size_t>(axis == 0 ? c * length + i * places + place : i * channels + c)];
  };
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t i = 0; i < inputs; i += 2)
      for (int64_t place = 0; place < places; ++place)
        if (std::abs(element(c, i, place) + element(c, i + 1, place)) > kMostPair) return false;
  return true;
}

}  // namespace

std::vector<int32_t> zeros_in(const Tensor* zero) {
  if (!zero || zero->size() == 0) return {0};
  const std::vector<int64_t> values = to_ints(*zero);
  return {values.begin(), values.end()};
}

std::optional<std::vector<float>> constant_scales(const NodeView& view, int i) {
  const Tensor* scale = view.constant(i);
  if (!scale || scale->dtype() != DType::kF32 || scale->size() == 0 || scale->rank() > 1) return std::nullopt;
  return to_floats(*scale);
}

ByteWeights byte_weights(const Tensor& weights, const Tensor* zero) {
  ByteWeights w{weights.aligned(), zeros_in(zero)};
  if (weights.dtype() == DType::kI8) return w;
  w.numbers = Tensor(DType::kI8, weights.dims());
  flip_sign(weights.raw(), w.numbers.mutable_raw(), weights.size());
  for (int32_t& z : w.zeros) z -= 128;
  return w;
}

bool ByteWeights::symmetric() const {
  return std::all_of(zeros.begin(), zeros.end(), [](int32_t z) { return z == 0; });
}

bool ByteWeights::exact_with(DType source, int axis) const {
  if (has_byte_products()) return true;
  return source == DType::kU8 && pairs_fit(numbers, axis);
}

Tensor centred(const Tensor& weights, const std::vector<int32_t>& zeros, int channel) {
  Tensor out(DType::kF32, weights.dims());
  const Tensor stored = weights.aligned();
  const Bytes bytes = bytes_of(stored);
  float* numbers = out.mutable_data<float>();
  if (zeros.size() == 1) {
    dequantize(bytes, numbers, weights.size(), 1, zeros[0]);
    return out;
  }
  int64_t inner = 1;
  for (int k = channel + 1; k < weights.rank(); ++k) inner *= weights.dim(k);
  for (int64_t row = 0; row * inner < weights.size(); ++row)
    dequantize(bytes.at(row * inner), numbers + row * inner, inner, 1, at(zeros, row % weights.dim(channel)));
  return out;
}

Memory memory_of(const std::vector<float>& values) {
  Memory memory(plain(Elem::f32, {static_cast<int64_t>(values.size())}), engine());
  std::copy(values.begin(), values.end(), static_cast<float*>(memory.get_data_handle()));
  return memory;
}

Memory memory_of(int32_t value) {
  Memory memory(plain(Elem::s32, {1}), engine());
  *static_cast<int32_t*>(memory.get_data_handle()) = value;
  return memory;
}

}  // namespace mlopt::cpu
