#include "core/exec/plan.h"

#include <any>
#include <cstring>

#include "core/base/error.h"
#include "core/base/memory.h"

namespace mlopt {

/// The memory of one run; kept for the next.
struct Plan::Frame {
  Tensor arena;
  std::byte* scratch = nullptr;
  std::vector<std::byte*> where;  ///< of each slot
  std::vector<Datum> data;        ///< of slots that are inputs, constants, outputs or made by general steps
  std::vector<std::any> memos;    ///< of each step
  std::vector<Tensor> given;      ///< the outputs of the run before, whose memory serves again once the caller let go
};

namespace {

/// A tensor for an output. Memory that the system has just given costs more to write than most operators.
Tensor room_for(const TensorDesc& desc, const Tensor& given) {
  if (given.dtype() == desc.dtype && given.dims() == desc.dims && !given.shared()) return given;
  return Tensor(desc.dtype, desc.dims);
}

}  // namespace

Plan::Plan(Parts parts) : p_(std::move(parts)) {}
Plan::~Plan() = default;

std::unique_ptr<Plan::Frame> Plan::new_frame() const {
  size_t bytes = p_.arena_bytes + p_.scratch_bytes;
  for (const int output : p_.outputs) {
    const Slot& s = p_.slots[static_cast<size_t>(output)];
    if (s.home == Home::kOutput) bytes += s.desc->bytes();
  }
  try {
    require_memory(bytes, "the values of a run");
  } catch (const Error& e) {
    throw NoRoom(e.code, e.message, e.where, e.fix);
  }
  auto frame = std::make_unique<Frame>();
  frame->arena = Tensor(DType::kU8, {static_cast<int64_t>(p_.arena_bytes + p_.scratch_bytes)});
  std::byte* base = frame->arena.mutable_raw();
  frame->scratch = base + p_.arena_bytes;
  frame->where.resize(p_.slots.size());
  frame->data.resize(p_.slots.size());
  frame->memos.resize(p_.steps.size());
  frame->given.resize(p_.outputs.size());
  for (size_t k = 0; k < p_.slots.size(); ++k)
    if (p_.slots[k].home == Home::kArena) frame->where[k] = base + p_.slots[k].offset;
  for (const auto& [slot, tensor] : p_.constants) {
    frame->data[static_cast<size_t>(slot)] = tensor;
    frame->where[static_cast<size_t>(slot)] = const_cast<std::byte*>(tensor.raw());  // kernels only read it
  }
  for (size_t k = 0; k < p_.slots.size(); ++k)
    if (p_.slots[k].home == Home::kArena || p_.slots[k].home == Home::kConstant)
      place_views(*frame, static_cast<int>(k));
  return frame;
}

void Plan::place_views(Frame& frame, int root) const {
  for (const int view : p_.views[static_cast<size_t>(root)])
    frame.where[static_cast<size_t>(view)] =
        frame.where[static_cast<size_t>(root)] + p_.slots[static_cast<size_t>(view)].offset;
}

void Plan::set(Frame& frame, int slot, Datum datum) const {
  const auto k = static_cast<size_t>(slot);
  frame.data[k] = std::move(datum);
  if (!p_.slots[k].desc) return;
  frame.where[k] = const_cast<std::byte*>(frame.data[k].tensor().raw());
  place_views(frame, slot);
}

void Plan::start(Frame& frame, std::span<const Datum> inputs) const {
  for (size_t i = 0; i < inputs.size(); ++i)
    set(frame, p_.inputs[i], inputs[i].is_tensor() ? Datum(inputs[i].tensor().aligned()) : inputs[i]);
  for (size_t i = 0; i < p_.outputs.size(); ++i) {
    const Slot& s = p_.slots[static_cast<size_t>(p_.outputs[i])];
    if (s.home == Home::kOutput) set(frame, p_.outputs[i], room_for(*s.desc, frame.given[i]));
  }
}

Datum Plan::datum_of(int slot, const Frame& frame) const {
  const auto k = static_cast<size_t>(slot);
  const Slot& s = p_.slots[k];
  if (s.home != Home::kArena && s.home != Home::kView) return frame.data[k];
  return Tensor::view(s.desc->dtype, s.desc->dims, {frame.where[k], s.desc->bytes()}, nullptr);
}

void Plan::run_planned(const Planned& step, size_t index, Frame& frame, const RunContext& context) const {
  const StepTimer timer(context, step.profile_row);
  try {
    step.step.run(Buffers(frame.where.data(), step.in, step.out, frame.scratch, frame.memos[index]));
  } catch (...) {
    if (!step.node) throw;
    rethrow_with_node(*step.node);
  }
}

namespace {

/// A copy where a tensor lies in memory that the plan uses again.
Datum detached(const Datum& d, std::span<const Datum> views) {
  if (d.kind() == Datum::Kind::kSequence) {
    std::vector<Datum> items;
    for (const Datum& item : d.items()) items.push_back(detached(item, views));
    return Datum::sequence(std::move(items));
  }
  if (!d.is_tensor() || d.tensor().bytes() == 0) return d;
  const Tensor& t = d.tensor();
  for (const Datum& v : views) {
    if (!v.is_tensor() || t.raw() < v.tensor().raw() || t.raw() >= v.tensor().raw() + v.tensor().bytes()) continue;
    Tensor copy(t.dtype(), t.dims());
    std::memcpy(copy.mutable_raw(), t.raw(), t.bytes());
    return copy;
  }
  return d;
}

bool fits(const Datum& d, const TensorDesc& desc) {
  return d.is_tensor() && d.tensor().dtype() == desc.dtype && d.tensor().dims() == desc.dims;
}

}  // namespace

void Plan::run_general(const General& step, Frame& frame, const RunContext& context) const {
  std::vector<Datum> views;  // of memory of the plan
  const auto given = [&](int slot) -> const Datum* {
    if (slot < 0) return nullptr;
    const Home home = p_.slots[static_cast<size_t>(slot)].home;
    if (home != Home::kArena && home != Home::kView) return &frame.data[static_cast<size_t>(slot)];
    return &views.emplace_back(datum_of(slot, frame).tensor().aligned());
  };
  size_t most = step.in.size();
  for (const auto& slots : step.captured) most += slots.size();
  views.reserve(most);  // addresses stay
  std::vector<const Datum*> inputs;
  for (const int slot : step.in) inputs.push_back(given(slot));
  std::vector<std::vector<const Datum*>> captured;
  for (const auto& slots : step.captured) {
    std::vector<const Datum*>& row = captured.emplace_back();
    for (const int slot : slots) row.push_back(given(slot));
  }
  std::vector<Datum> outputs(step.out.size());
  step.step.run(
      inputs, outputs, [&](int body, int i) { return captured[static_cast<size_t>(body)][static_cast<size_t>(i)]; },
      context);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (step.out[i] < 0) continue;
    Datum made = views.empty() ? std::move(outputs[i]) : detached(outputs[i], views);
    const auto& desc = p_.slots[static_cast<size_t>(step.out[i])].desc;
    if (desc && !fits(made, *desc)) throw ShapeSurprise();
    set(frame, step.out[i], desc ? Datum(made.tensor().aligned()) : std::move(made));
  }
  for (const int slot : step.dead) frame.data[static_cast<size_t>(slot)] = Datum();
}

void Plan::tap(std::vector<Output>::const_iterator& next, int step, const Frame& frame,
               const RunContext& context) const {
  for (; next != p_.tapped.end() && next->step <= step; ++next)
    if (context.hooks->on_tap) context.hooks->on_tap(next->name, datum_of(next->slot, frame));
}

void Plan::run_steps(Frame& frame, const RunContext& context) const {
  auto next = p_.announced.begin();
  auto next_tapped = p_.tapped.begin();
  tap(next_tapped, -1, frame, context);
  for (size_t k = 0; k < p_.steps.size(); ++k) {
    if (const auto* planned = std::get_if<Planned>(&p_.steps[k]))
      run_planned(*planned, k, frame, context);
    else
      run_general(std::get<General>(p_.steps[k]), frame, context);
    tap(next_tapped, static_cast<int>(k), frame, context);
    if (!context.hooks->on_ready) continue;
    for (; next != p_.announced.end() && next->step <= static_cast<int>(k); ++next)
      context.hooks->on_ready(next->name, datum_of(next->slot, frame));
  }
}

void Plan::copy_update(const Update& update, const Frame& frame) const {
  const TensorDesc& desc = *p_.slots[static_cast<size_t>(update.to)].desc;
  const Datum made = datum_of(update.from, frame);
  if (!fits(made, desc)) internal_error("a state value keeps its type and shape");
  if (desc.bytes() > 0)
    std::memcpy(frame.where[static_cast<size_t>(update.to)], made.tensor().aligned().raw(), desc.bytes());
}

Datum Plan::handed_out(size_t output, Frame& frame) const {
  const int slot = p_.outputs[output];
  const Slot& s = p_.slots[static_cast<size_t>(slot)];
  Datum d = datum_of(slot, frame);
  if (s.home == Home::kArena || s.home == Home::kView) {
    Tensor copy = room_for(*s.desc, frame.given[output]);
    if (s.desc->bytes() > 0) std::memcpy(const_cast<std::byte*>(copy.raw()), d.tensor().raw(), s.desc->bytes());
    d = copy;
  } else if (s.home != Home::kOutput) {
    return d;
  }
  frame.given[output] = d.tensor();
  return d;
}

std::vector<Datum> Plan::run(std::span<const Datum> inputs, const RunContext& context) const {
  std::unique_ptr<Frame> frame = frames_.take([&] { return new_frame(); });
  start(*frame, inputs);
  run_steps(*frame, context);
  for (const Update& update : p_.updates)
    if (!update.in_place) copy_update(update, *frame);
  std::vector<Datum> outputs;
  outputs.reserve(p_.outputs.size());
  for (size_t i = 0; i < p_.outputs.size(); ++i) outputs.push_back(handed_out(i, *frame));
  for (const int slot : p_.releases) frame->data[static_cast<size_t>(slot)] = Datum();
  frames_.give_back(std::move(frame));
  return outputs;
}

}  // namespace mlopt
