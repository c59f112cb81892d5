#include "backends/cpu/primitive.h"

#include <fmt/core.h>

#include <algorithm>

#include "backends/cpu/packed.h"
#include "backends/cpu/strided.h"
#include "core/base/align.h"
#include "core/base/error.h"
#include "core/exec/weight_cache.h"

namespace mlopt::cpu {
namespace {

/// What one set of buffers keeps for a primitive.
struct Ready {
  std::vector<Memory> memories;
  std::vector<dnnl_exec_arg_t> args;  ///< of all parts, one after the other
};

void* address(const Source& source, const Buffers& b) {
  switch (source.kind) {
    case Source::Kind::kInput:
      return const_cast<std::byte*>(b.in<std::byte>(source.index));
    case Source::Kind::kOutput:
      return b.out<std::byte>(source.index);
    case Source::Kind::kScratch:
      return b.scratch + source.offset;
    case Source::Kind::kFixed:
      return source.fixed.get_data_handle();
  }
  return nullptr;
}

dnnl::stream& stream() {
  thread_local dnnl::stream s(engine());
  return s;
}

}  // namespace

Desc desc_of(const TensorDesc& tensor) {
  const auto elem = elem_of(tensor.dtype);
  if (!elem) internal_error("an element type that oneDNN lacks", std::string(name(tensor.dtype)));
  if (tensor.dims.empty()) return plain(*elem, tensor.dims);
  return Desc(tensor.dims, *elem, tensor.strides());
}

std::optional<Elem> carrier(DType type) {
  switch (bits(type)) {
    case 8:
      return Elem::u8;
    case 32:
      return Elem::f32;
    default:
      return std::nullopt;
  }
}

Primitive::Primitive(dnnl::primitive primitive, std::string name, const Desc& scratchpad,
                     std::vector<Argument> arguments, size_t scratch)
    : name_(std::move(name)), scratch_bytes_(aligned_size(scratch)) {
  if (scratchpad.get_size() > 0) {
    arguments.push_back({DNNL_ARG_SCRATCHPAD, scratchpad, Source::scratch(scratch_bytes_)});
    scratch_bytes_ += aligned_size(scratchpad.get_size());
  }
  parts_.push_back({std::move(primitive), std::move(arguments)});
}

void Primitive::run_after(Primitive first) {
  parts_.insert(parts_.begin(), first.parts_.begin(), first.parts_.end());
  scratch_bytes_ = std::max(scratch_bytes_, first.scratch_bytes_);
}

size_t Primitive::packed_bytes() const {
  size_t bytes = 0;
  for (const Part& part : parts_)
    for (const Argument& a : part.arguments)
      if (a.source.kind == Source::Kind::kFixed) bytes += a.desc.get_size();
  return bytes;
}

void Primitive::describe(PlannedStep& step) const {
  step.scratch_bytes = scratch_bytes();
  step.packed_bytes = packed_bytes();
  step.label = name_;
}

void Primitive::run(const Buffers& buffers) const {
  if (!buffers.memo.has_value()) {
    Ready ready;
    for (const Part& part : parts_)
      for (const Argument& a : part.arguments) {
        ready.memories.push_back(Memory(a.desc, engine(), DNNL_MEMORY_NONE));
        ready.args.push_back({a.id, ready.memories.back().get()});
      }
    buffers.memo = std::move(ready);
  }
  const dnnl_exec_arg_t* args = std::any_cast<Ready>(&buffers.memo)->args.data();
  for (const Part& part : parts_) {
    const size_t count = part.arguments.size();
    for (size_t i = 0; i < count; ++i)
      dnnl_memory_set_data_handle(args[i].memory, address(part.arguments[i].source, buffers));
    const auto status = dnnl_primitive_execute(part.primitive.get(), stream().get(), static_cast<int>(count), args);
    if (status == dnnl_out_of_memory) throw std::bad_alloc();
    if (status != dnnl_success) internal_error(fmt::format("oneDNN could not run the step: status {}", int{status}));
    args += count;
  }
}

Source packed(const Site& site, int i, const std::string& form, const Desc& given, const Desc& wanted) {
  const Tensor& constant = *site.constant(i);
  const auto make = [&] { return std::make_shared<Packed>(constant, given); };
  return Source::of(shared_weights<Packed>(site.context.weights, constant, "onednn " + form, make), wanted);
}

Source input_as(int i, const Desc& given, const Desc& wanted, Primitive& before) {
  if (given == wanted) return Source::in(i);
  Source copy = Source::scratch(before.scratch_bytes());
  const dnnl::reorder::primitive_desc pd(engine(), given, engine(), wanted, new_attr());
  Primitive reorder = Primitive::make<dnnl::reorder>(
      pd, {{DNNL_ARG_FROM, given, Source::in(i)}, {DNNL_ARG_TO, wanted, copy}}, copy.offset + wanted.get_size());
  reorder.run_after(std::move(before));
  before = std::move(reorder);
  return copy;
}

Source weights_of(const Site& site, int i, const std::string& form, const Desc& given, const Desc& wanted,
                  PlannedStep& step, Primitive& before) {
  if (!site.constant(i)) return input_as(i, given, wanted, before);
  step.packed.push_back(i);
  return packed(site, i, form, given, wanted);
}

Decline declined(const dnnl::error& e, const Node& node) {
  if (e.status == dnnl_unimplemented || e.status == dnnl_invalid_arguments) return {"oneDNN has no primitive for it"};
  if (e.status == dnnl_out_of_memory)
    unsupported_error("out of memory", node.label(), "use a smaller batch or a machine with more memory");
  internal_error(fmt::format("oneDNN could not plan the step: {}", e.message ? e.message : "no reason given"),
                 node.label());
}

namespace {

PlannedStep plan_primitive_copy(TensorDesc out, const Desc& from, const Desc& to) {
  PlannedStep step{.out = {std::move(out)}};
  const dnnl::reorder::primitive_desc pd(engine(), from, engine(), to, new_attr());
  auto op =
      Primitive::make<dnnl::reorder>(pd, {{DNNL_ARG_FROM, from, Source::in(0)}, {DNNL_ARG_TO, to, Source::out(0)}});
  op.describe(step);
  step.run = [op = std::move(op)](const Buffers& b) { op.run(b); };
  return step;
}

}  // namespace

PlannedStep plan_copy(TensorDesc out, const Dims& dims, const Dims& from, const Dims& to) {
  const auto elem = carrier(out.dtype);
  const StridedCopy copy(*element_bytes(out.dtype), dims, from, to);
  if (elem && dims.size() <= DNNL_MAX_NDIMS && !copy.is_tiled())
    return plan_primitive_copy(std::move(out), Desc(dims, *elem, from), Desc(dims, *elem, to));
  PlannedStep step{.out = {std::move(out)}};
  step.run = [copy](const Buffers& b) { copy.run(b.in<std::byte>(0), b.out<std::byte>(0)); };
  return step;
}

PlannedStep plan_reorder(const TensorDesc& from, const TensorDesc& to, const CompileContext&) {
  if (from.dtype != to.dtype) return plan_primitive_copy(to, desc_of(from), desc_of(to));
  return plan_copy(to, from.dims, from.strides(), to.strides());
}

}  // namespace mlopt::cpu
