#include "core/exec/program.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "core/base/error.h"

namespace mlopt {
namespace {

constexpr size_t kLarge = 1 << 20;

/// Weights that lie in a file are looked at in passing, so that a model larger than memory runs too. What comes back to
/// them finds them in the cache of the system.
void release_weight(const Datum& weight) {
  if (weight.is_tensor() && weight.tensor().bytes() >= kLarge) weight.tensor().release_pages();
}

}  // namespace

Program::Program(const Graph& graph, ProgramContext& context)
    : is_body_(graph.owner != nullptr), captured_(captures(graph)) {
  place_values(graph);
  for (const Value* v : graph.values())
    if (v->opaque && (!v->uses.empty() || v->is_output()))
      context.unsupported.push_back(fmt::format("the sparse initializer '{}'", v->name));
  for (const std::string& name : context.options->taps) {
    const auto it = std::find(slot_names_.begin(), slot_names_.end(), name);
    if (it != slot_names_.end()) tapped_[static_cast<size_t>(it - slot_names_.begin())] = true;
  }
  for (const Node* node : graph.nodes()) {
    const bool constant =
        std::all_of(node->outputs().begin(), node->outputs().end(), [](const Value* v) { return !v || v->constant; });
    if (!constant) compile_node(*node, context);
  }
  find_last_uses();
}

void Program::place_values(const Graph& graph) {
  const auto new_slot = [&](const Value* v) {
    const Ref slot = static_cast<Ref>(slot_names_.size());
    slot_names_.push_back(v->name);
    refs_[v] = slot;
    return slot;
  };
  for (const Value* v : graph.values()) {
    if (v->constant) {
      refs_[v] = -2 - static_cast<Ref>(residents_.size());
      residents_.emplace_back(*v->constant);
    } else {
      new_slot(v);
    }
  }
  for (const Value* v : captured_) capture_slots_.push_back(new_slot(v));
  for (const Value* v : graph.inputs())
    if (!v->constant) inputs_.push_back(ref(v));
  for (const Value* v : graph.outputs()) outputs_.push_back(ref(v));
  tapped_.resize(slot_names_.size());
}

Program::Ref Program::ref(const Value* value) const {
  if (!value) return kNone;
  const auto it = refs_.find(value);
  if (it == refs_.end()) internal_error("a value has no place in the plan", value->name);
  return it->second;
}

void Program::compile_node(const Node& node, ProgramContext& context) {
  Compiled compiled{NodeStep(node, context), {}, {}, {}, {}};
  for (const Value* v : node.inputs()) compiled.inputs.push_back(ref(v));
  for (const Value* v : node.outputs()) compiled.outputs.push_back(ref(v));
  for (const std::vector<Value*>& values : compiled.step.captured()) {
    std::vector<Ref>& refs = compiled.captured.emplace_back();
    for (const Value* v : values) refs.push_back(ref(v));
  }
  steps_.push_back(std::move(compiled));
}

void Program::find_last_uses() {
  std::vector<int> last(slot_names_.size(), -1);
  const auto see = [&](Ref r, int step) {
    if (r >= 0) last[static_cast<size_t>(r)] = step;
  };
  for (size_t s = 0; s < steps_.size(); ++s) {
    for (const Ref r : steps_[s].outputs) see(r, static_cast<int>(s));  // never read: dead at once
    for (const Ref r : steps_[s].inputs) see(r, static_cast<int>(s));
    for (const auto& refs : steps_[s].captured)
      for (const Ref r : refs) see(r, static_cast<int>(s));
  }
  for (const Ref r : outputs_)
    if (r >= 0) last[static_cast<size_t>(r)] = -1;
  for (size_t slot = 0; slot < last.size(); ++slot)
    if (last[slot] >= 0) steps_[static_cast<size_t>(last[slot])].dead.push_back(static_cast<Ref>(slot));
}

const Datum* Program::at(Ref r, const std::vector<Datum>& frame) const {
  if (r == kNone) return nullptr;
  return r >= 0 ? &frame[static_cast<size_t>(r)] : &residents_[static_cast<size_t>(-2 - r)];
}

std::vector<Datum> Program::run(std::span<const Datum> inputs, std::span<const Datum* const> captured,
                                const RunContext& context) const {
  if (inputs.size() != inputs_.size())
    input_error(fmt::format("{} inputs given where {} are needed", inputs.size(), inputs_.size()));
  std::call_once(aligned_, [&] {
    for (Datum& d : residents_) d = Datum(d.tensor().aligned());
  });
  std::vector<Datum> frame(slot_names_.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    Datum& slot = frame[static_cast<size_t>(inputs_[i])];
    slot = inputs[i].is_tensor() ? Datum(inputs[i].tensor().aligned()) : inputs[i];
    if (tapped_[static_cast<size_t>(inputs_[i])] && context.hooks->on_tap)
      context.hooks->on_tap(slot_names_[static_cast<size_t>(inputs_[i])], slot);
  }
  for (size_t i = 0; i < captured.size(); ++i) frame[static_cast<size_t>(capture_slots_[i])] = *captured[i];
  StepArgs args;
  for (const Compiled& step : steps_) run_step(step, frame, args, context);
  std::vector<Datum> outputs;
  outputs.reserve(outputs_.size());
  for (const Ref r : outputs_) outputs.push_back(*at(r, frame));
  return outputs;
}

void Program::run_step(const Compiled& step, std::vector<Datum>& frame, StepArgs& args,
                       const RunContext& context) const {
  auto& [inputs, outputs] = args;
  inputs.clear();
  for (const Ref r : step.inputs) inputs.push_back(at(r, frame));
  outputs.assign(step.outputs.size(), Datum());
  std::function<const Datum*(int, int)> captured;
  if (!step.captured.empty())
    captured = [&](int body, int index) {
      return at(step.captured[static_cast<size_t>(body)][static_cast<size_t>(index)], frame);
    };
  step.step.run(inputs, outputs, captured, context);
  if (!is_body_)  // a body may come back at once
    for (size_t i = 0; i < inputs.size(); ++i)
      if (step.inputs[i] < kNone) release_weight(*inputs[i]);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Ref r = step.outputs[i];
    if (r < 0) continue;
    const auto slot = static_cast<size_t>(r);
    frame[slot] = std::move(outputs[i]);
    if (tapped_[slot] && context.hooks->on_tap) context.hooks->on_tap(slot_names_[slot], frame[slot]);
    if (context.hooks->on_ready && !is_body_ && std::find(outputs_.begin(), outputs_.end(), r) != outputs_.end())
      context.hooks->on_ready(slot_names_[slot], frame[slot]);
  }
  for (const Ref r : step.dead) frame[static_cast<size_t>(r)] = Datum();
}

}  // namespace mlopt
