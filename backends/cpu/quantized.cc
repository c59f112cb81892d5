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

ByteWeights byte_weights(const Tensor& weights, std::vector<int32_t> zeros) {
  ByteWeights w{weights.aligned(), std::move(zeros)};
  if (weights.dtype() == DType::kI8) return w;
  w.numbers = Tensor(DType::kI8, weights.dims());
  flip_sign(weights.raw(), w.numbers.mutable_raw(), weights.size());
  for (int32_t& z : w.zeros) z -= 128;
  return w;
}

bool ByteWeights::symmetric() const {
  return std::all_of(zeros.begin(), zeros.end(), [](int32_t z) { return z == 0; });
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
