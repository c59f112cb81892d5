#include "backends/cpu/dnn.h"

namespace mlopt::cpu {

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

std::optional<Elem> elem_of(DType type) {
  switch (type) {
    case DType::kF32:
      return Elem::f32;
    case DType::kBF16:
      return Elem::bf16;
    case DType::kF16:
      return Elem::f16;
    case DType::kI32:
      return Elem::s32;
    case DType::kI8:
      return Elem::s8;
    case DType::kU8:
      return Elem::u8;
    default:
      return std::nullopt;
  }
}

Desc plain(Elem type, const Dims& dims) {
  const Dims shape = dims.empty() ? Dims{1} : dims;
  return Desc(shape, type, row_major_strides(shape));
}

Desc plain(DType type, const Dims& dims) {
  const auto elem = elem_of(type);
  if (!elem) internal_error("an element type that oneDNN lacks", std::string(name(type)));
  return plain(*elem, dims);
}

Desc any(Elem type, const Dims& dims) { return Desc(dims, type, Layout::any); }

Memory wrap(const Desc& desc, const Tensor& tensor) {
  return Memory(desc, engine(), const_cast<std::byte*>(tensor.raw()));  // primitives only read it
}

bool has_avx512() {
  constexpr auto kNeeded = static_cast<int>(dnnl::cpu_isa::avx512_core);
  return (static_cast<int>(dnnl::get_effective_cpu_isa()) & kNeeded) == kNeeded;
}

bool has_bf16() { return has_avx512(); }

dnnl::primitive_attr new_attr() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

}  // namespace mlopt::cpu
