#include "backends/cpu/operand.h"

#include <algorithm>
#include <utility>

namespace mlopt::cpu {

Memory Packed::as(const Desc& wanted) {
  if (wanted == given_) return wrap(given_, std::as_const(tensor_));
  const auto known = std::find_if(made_.begin(), made_.end(), [&](const Memory& m) { return m.get_desc() == wanted; });
  if (known != made_.end()) return *known;
  Workspace workspace;
  const Memory packed(wanted, engine());
  Reorder(given_, wanted).run(wrap(given_, std::as_const(tensor_)), packed, workspace);
  return made_.emplace_back(packed);
}

Copy::Copy(const Desc& from, const Desc& to) : to_(to) {
  if (from != to) reorder_ = std::make_shared<Reorder>(from, to);
}

Memory Copy::of(const Memory& memory, Workspace& workspace) const {
  if (!reorder_) return memory;
  Memory copy = workspace.memory(to_);
  reorder_->run(memory, copy, workspace);
  return copy;
}

Operand::Operand(int input, const Desc& given, const Desc& wanted)
    : input_(input), given_(given), copy_(given, wanted) {}

Memory Operand::get(const Call& call, Workspace& workspace) const {
  return input_ < 0 ? ready_ : copy_.of(wrap(given_, call.in(input_)), workspace);
}

Operand operand(int i, const Desc& given, const Desc& wanted, const std::shared_ptr<Packed>& packed) {
  return packed ? Operand(packed->as(wanted)) : Operand(i, given, wanted);
}

Result::Result(DType type, Dims dims, const Desc& wanted, const Desc& made)
    : type_(type), dims_(std::move(dims)), wanted_(wanted), made_(made) {
  if (wanted == made) return;
  reorder_ = std::make_shared<Reorder>(made, wanted);
  fill_ = std::make_shared<Reorder>(wanted, made);
}

Memory Result::open(Call& call, Workspace& workspace) const {
  return reorder_ ? workspace.memory(made_) : wrap(made_, call.make(0, type_, dims_));
}

Memory Result::open_with(Call& call, int i, Workspace& workspace) const {
  Memory memory = open(call, workspace);
  const Tensor& source = call.in(i);
  if (fill_)
    fill_->run(wrap(wanted_, source), memory, workspace);
  else
    std::memcpy(memory.get_data_handle(), source.raw(), source.bytes());
  return memory;
}

void Result::close(Call& call, const Memory& memory, Workspace& workspace, const Activation& act) const {
  void* written = memory.get_data_handle();
  if (reorder_) {
    Tensor& out = call.make(0, type_, dims_);
    reorder_->run(memory, wrap(wanted_, out), workspace);
    written = out.mutable_raw();
  }
  if (act.fn == Fn::kNone) return;
  auto* elements = static_cast<float*>(written);
  apply(act, elements, elements, element_count(dims_));
}

}  // namespace mlopt::cpu
