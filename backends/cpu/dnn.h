#pragma once
#include <cstddef>
#include <dnnl.hpp>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/tensor/tensor.h"

static_assert(DNNL_VERSION_MAJOR == 3, "an older oneDNN is in front of the one that the build asked for");

namespace mlopt::cpu {

using Desc = dnnl::memory::desc;
using Memory = dnnl::memory;
using Elem = dnnl::memory::data_type;
using Layout = dnnl::memory::format_tag;
using Args = std::unordered_map<int, Memory>;

/// The one engine of the process.
const dnnl::engine& engine();

/// Element types that primitives take: float32, bfloat16, float16, int32, int8, uint8.
std::optional<Elem> elem_of(DType type);
/// Row-major; a scalar becomes one dimension of 1. The type must have an elem_of().
Desc plain(DType type, const Dims& dims);
inline Desc plain(const Tensor& t) { return plain(t.dtype(), t.dims()); }
/// The layout is the primitive's choice.
Desc any(Elem type, const Dims& dims);
/// Row-major strides.
Desc plain(Elem type, const Dims& dims);

/// The tensor's own bytes, which must be laid out as `desc` says.
Memory wrap(const Desc& desc, const Tensor& tensor);
Memory wrap(const Desc& desc, Tensor& tensor);

/// Memory that a step needs only while it runs: a buffer of the calling thread that grows to the largest need. Steps of
/// one thread take from it one after the other; what a workspace gave is gone when it is destroyed.
class Workspace {
 public:
  Workspace() = default;
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  /// 64-byte aligned, not initialised.
  std::byte* take(size_t bytes);
  Memory memory(const Desc& desc);

 private:
  size_t taken_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> extra_;
};

/// Attributes that every primitive starts from: the scratchpad is the caller's, so that threads may share a primitive.
dnnl::primitive_attr new_attr();

/// A primitive and the size of its scratchpad.
class Op {
 public:
  Op() = default;
  template <class Primitive>
  static Op make(const typename Primitive::primitive_desc& pd) {
    return Op(Primitive(pd), pd.scratchpad_desc());
  }
  void run(Args args, Workspace& workspace) const;

 private:
  Op(dnnl::primitive primitive, Desc scratchpad)
      : primitive_(std::move(primitive)), scratchpad_(std::move(scratchpad)) {}
  dnnl::primitive primitive_;
  Desc scratchpad_;
};

/// There is no primitive, or only one of oneDNN's plain loops, which are far slower than the reference backend's.
template <class PrimitiveDesc>
bool is_slow(const PrimitiveDesc& pd) {
  return !pd || std::string_view(pd.impl_info_str()).find("ref") != std::string_view::npos;
}

/// Copies between layouts and element types (numbers are converted and saturated). Threads may share it.
class Reorder {
 public:
  Reorder() = default;
  Reorder(const Desc& from, const Desc& to, const dnnl::primitive_attr& attr = new_attr());
  void run(const Memory& from, const Memory& to, Workspace& workspace) const;

 private:
  Op op_;
};

}  // namespace mlopt::cpu
