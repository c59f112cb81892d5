#include "backends/cpu/dnn.h"

#include <algorithm>

#include "core/base/align.h"

namespace mlopt::cpu {
namespace {

std::byte* align(std::byte* p) { return reinterpret_cast<std::byte*>(aligned_size(reinterpret_cast<uintptr_t>(p))); }

/// The buffer behind the workspaces of one thread.
struct Buffer {
  std::unique_ptr<std::byte[]> bytes;
  size_t capacity = 0, used = 0, wanted = 0;
};

Buffer& buffer() {
  thread_local Buffer b;
  return b;
}

}  // namespace

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
Memory wrap(const Desc& desc, Tensor& tensor) { return Memory(desc, engine(), tensor.mutable_raw()); }

std::byte* Workspace::take(size_t bytes) {
  Buffer& b = buffer();
  const size_t size = aligned_size(std::max<size_t>(bytes, 1));
  b.wanted = std::max(b.wanted, b.used + size);
  b.used += size;
  taken_ += size;
  if (b.used <= b.capacity) return align(b.bytes.get()) + (b.used - size);
  extra_.push_back(std::make_unique_for_overwrite<std::byte[]>(size + kAlignment));
  return align(extra_.back().get());
}

Workspace::~Workspace() {
  Buffer& b = buffer();
  b.used -= taken_;
  if (b.used > 0 || b.wanted <= b.capacity) return;
  b.capacity = 0;  // stays so when there is no memory: the next workspace then takes pieces again
  b.bytes.reset(new (std::nothrow) std::byte[b.wanted + kAlignment]);
  if (b.bytes) b.capacity = b.wanted;
}

Memory Workspace::memory(const Desc& desc) { return Memory(desc, engine(), take(desc.get_size())); }

dnnl::primitive_attr new_attr() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

void Op::run(Args args, Workspace& workspace) const {
  thread_local dnnl::stream stream(engine());
  if (scratchpad_.get_size() > 0) args.insert_or_assign(DNNL_ARG_SCRATCHPAD, workspace.memory(scratchpad_));
  primitive_.execute(stream, args);
}

Reorder::Reorder(const Desc& from, const Desc& to, const dnnl::primitive_attr& attr)
    : op_(Op::make<dnnl::reorder>(dnnl::reorder::primitive_desc(engine(), from, engine(), to, attr))) {}

void Reorder::run(const Memory& from, const Memory& to, Workspace& workspace) const {
  op_.run({{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}, workspace);
}

}  // namespace mlopt::cpu
