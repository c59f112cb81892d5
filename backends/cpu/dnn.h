#pragma once
#include <cstddef>
#include <dnnl.hpp>
#include <optional>
#include <string_view>

#include "core/tensor/tensor.h"

static_assert(DNNL_VERSION_MAJOR == 3, "an older oneDNN is in front of the one that the build asked for");

namespace mlopt::cpu {

using Desc = dnnl::memory::desc;
using Memory = dnnl::memory;
using Elem = dnnl::memory::data_type;
using Layout = dnnl::memory::format_tag;

/// The one engine of the process.
const dnnl::engine& engine();

/// Element types that primitives take: float32, bfloat16, float16, int32, int8, uint8.
std::optional<Elem> elem_of(DType type);
/// Row-major; a scalar becomes one dimension of 1. The type must have an elem_of().
Desc plain(DType type, const Dims& dims);
/// The layout is the primitive's choice.
Desc any(Elem type, const Dims& dims);
/// Row-major strides.
Desc plain(Elem type, const Dims& dims);

/// The tensor's own bytes, which must be laid out as `desc` says.
Memory wrap(const Desc& desc, const Tensor& tensor);

/// Whether primitives use AVX-512.
bool has_avx512();
/// Does oneDNN multiply bfloat16 here? Processors with AVX-512 but without its instructions for that are slow at it.
bool has_bf16();

/// Attributes that every primitive starts from: the scratchpad is the caller's, so that threads may share a primitive.
dnnl::primitive_attr new_attr();

/// There is no primitive, or only one of oneDNN's plain loops, which are far slower than the reference backend's.
template <class PrimitiveDesc>
bool is_slow(const PrimitiveDesc& pd) {
  return !pd || std::string_view(pd.impl_info_str()).find("ref") != std::string_view::npos;
}

}  // namespace mlopt::cpu
