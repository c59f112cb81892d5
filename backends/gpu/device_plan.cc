#include "backends/gpu/device_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <any>
#include <utility>

#include "backends/gpu/copy_times.h"
#include "backends/gpu/edges.h"
#include "backends/gpu/plan_sums.h"
#include "core/base/error.h"

namespace mlopt::gpu {

namespace {

/// The name of a step, for a profiler that watches what is launched meanwhile.
class Range {
 public:
  Range(const GpuInterface& api, const Node* node) : api_(api) {
    api.begin_range(node ? node->label().c_str() : "a copy");
  }
  ~Range() { api_.end_range(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  const GpuInterface& api_;
};

}  // namespace

/// What one run at a time works on; kept for the next.
struct DevicePlan::Frame {
  /// How often all was put in the queue one by one, and what was captured then.
  struct Recorded {
    int runs = 0;
    Graph* graph = nullptr;
  };
  explicit Frame(Device device) : queue(device) {}
  ~Frame() {
    queue.api().wait(&queue.get());  // where a run failed, copies may be on their way
    for (const Recorded& recorded : {alone, summing})
      if (recorded.graph) queue.api().drop(recorded.graph);
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  WorkQueue queue;
  std::optional<Edges> edges;  ///< of inputs, then outputs
  Memory memory;
  std::byte* scratch = nullptr;
  std::vector<std::byte*> where;  ///< of each slot, on the device
  std::vector<Datum> data;        ///< on the host: inputs, constants, and what steps there made
  std::any memo;                  ///< the queue, for the steps
  Recorded alone, summing;        ///< without sums over ranks and with them
  std::optional<PlannedSums> sums;
};

DevicePlan::DevicePlan(Parts parts, Device device, std::shared_ptr<Weights> weights, Options options)
    : Plan(std::move(parts)), device_(device), weights_(std::move(weights)), options_(std::move(options)) {
  for (const AnyStep& step : this->parts().steps) on_host_ = on_host_ || std::holds_alternative<General>(step);
  if (!options_.host_steps) refuse_host_steps();
  place();
}

DevicePlan::~DevicePlan() = default;

std::unique_ptr<DevicePlan::Frame> DevicePlan::new_frame() const {
  const Parts& p = parts();
  auto frame = std::make_unique<Frame>(device_);
  if (options_.tuning) options_.tuning->begin(frame->queue);
  frame->memory = Memory(device_, bytes_);
  frame->edges.emplace(device_, edge_sizes());
  std::byte* base = frame->memory.at();
  frame->scratch = base + p.arena_bytes;
  frame->where.resize(p.slots.size());
  frame->data.resize(p.slots.size());
  frame->memo = &frame->queue;
  for (size_t k = 0; k < p.slots.size(); ++k) frame->where[k] = base + places_[k];
  for (const auto& [slot, tensor] : p.constants) {
    frame->data[static_cast<size_t>(slot)] = tensor;
    if (tensor.bytes() > 0) frame->where[static_cast<size_t>(slot)] = weights_->at(tensor);
  }
  for (const int k : p.inputs)
    if (is_state(k)) frame->where[static_cast<size_t>(k)] = options_.state->at(slot(k).value->name);
  for (size_t root = 0; root < p.slots.size(); ++root)
    for (const int view : p.views[root])
      frame->where[static_cast<size_t>(view)] = frame->where[root] + p.slots[static_cast<size_t>(view)].offset;
  return frame;
}

void DevicePlan::start(Frame& frame, std::span<const Datum> inputs, const RunContext& context) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto k = static_cast<size_t>(parts().inputs[i]);
    frame.data[k] = inputs[i];
    const Tensor& given = inputs[i].tensor();
    if (is_state(parts().inputs[i]))
      options_.state->bring(slot(parts().inputs[i]).value->name, frame.queue);
    else
      frame.edges->bring(i, frame.where[k], given.raw(), frame.queue);
    tap(parts().inputs[i], frame, context);
  }
}

Datum DevicePlan::fetch(int k, Frame& frame) const {
  if (is_on_host(k)) return frame.data[static_cast<size_t>(k)];
  Tensor made(slot(k).desc->dtype, slot(k).desc->dims);
  frame.queue.transfer(made.mutable_raw(), frame.where[static_cast<size_t>(k)], made.bytes());
  frame.queue.wait();
  return made;
}

/// The outputs, when all has run.
std::vector<Datum> DevicePlan::fetch_outputs(Frame& frame) const {
  const Parts& p = parts();
  std::vector<Datum> outputs;
  std::vector<std::pair<size_t, std::byte*>> begun;
  for (size_t i = 0; i < p.outputs.size(); ++i) {
    const int k = p.outputs[i];
    if (is_on_host(k)) {
      outputs.push_back(frame.data[static_cast<size_t>(k)]);
      continue;
    }
    Tensor made(slot(k).desc->dtype, slot(k).desc->dims);
    begun.emplace_back(p.inputs.size() + i, made.mutable_raw());
    frame.edges->begin_fetch(begun.back().first, begun.back().second, frame.where[static_cast<size_t>(k)], frame.queue);
    outputs.emplace_back(std::move(made));
  }
  frame.queue.wait();
  for (const auto& [edge, to] : begun) frame.edges->finish(edge, to);
  return outputs;
}

void DevicePlan::tap(int k, Frame& frame, const RunContext& context) const {
  if (options_.taps.empty() || !context.hooks->on_tap || k < 0 || !slot(k).value) return;
  if (options_.taps.contains(slot(k).value->name)) context.hooks->on_tap(slot(k).value->name, fetch(k, frame));
}

void DevicePlan::run_planned(const Planned& step, Frame& frame, const RunContext& context) const {
  const GpuInterface& api = frame.queue.api();
  Queue* queue = &frame.queue.get();
  const Range range(api, step.node);
  try {
    if (context.profile) check(api.start_clock(queue), "timing");
    step.step.run(Buffers(frame.where.data(), step.in, step.out, frame.scratch, frame.memo));
    if (!context.profile) return;
    double seconds = 0;
    check(api.stop_clock(queue, &seconds), "timing");
    const std::lock_guard lock(*context.profile_mutex);
    StepProfile& row = (*context.profile)[step.profile_row];
    row.seconds += seconds;
    ++row.calls;
  } catch (...) {
    if (!step.node) throw;
    rethrow_with_node(*step.node);
  }
}

void DevicePlan::run_on_host(const General& step, Frame& frame, const RunContext& context) const {
  if (context.profile) frame.queue.wait();  // for what is no copy of this step
  std::map<int, Datum> fetched;
  CopyTimes times(step.step.view().node(), context);
  const auto given = [&](int k) -> const Datum* {
    if (k < 0) return nullptr;
    const auto known = fetched.find(k);
    if (known != fetched.end()) return &known->second;
    const size_t bytes = is_on_host(k) ? 0 : slot(k).desc->bytes();
    return &fetched.emplace(k, times.measure(bytes, [&] { return fetch(k, frame); })).first->second;
  };
  std::vector<const Datum*> inputs;
  for (const int k : step.in) inputs.push_back(given(k));
  std::vector<Datum> outputs(step.out.size());
  step.step.run(
      inputs, outputs,
      [&](int body, int i) { return given(step.captured[static_cast<size_t>(body)][static_cast<size_t>(i)]); },
      context);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const int k = step.out[i];
    if (k < 0) continue;
    if (const auto& desc = slot(k).desc) {
      const bool fits = outputs[i].is_tensor() && outputs[i].tensor().dtype() == desc->dtype &&
                        outputs[i].tensor().dims() == desc->dims;
      if (!fits) throw ShapeSurprise();
      const Tensor& made = outputs[i].tensor();
      times.measure(made.bytes(), [&] {
        frame.queue.transfer(frame.where[static_cast<size_t>(k)], made.raw(), made.bytes());
        frame.queue.wait();
      });
    }
    frame.data[static_cast<size_t>(k)] = std::move(outputs[i]);
  }
}

void DevicePlan::run_steps(Frame& frame, const RunContext& context) const {
  int64_t number = 0;
  PlannedSums* sums = context.hooks->sums ? &*frame.sums : nullptr;
  for (const AnyStep& any : parts().steps) {
    frame.queue.api().begin_step(&frame.queue.get(), ++number);
    std::visit(
        [&](const auto& step) {
          if constexpr (std::is_same_v<std::decay_t<decltype(step)>, Planned>)
            run_planned(step, frame, context);
          else
            run_on_host(step, frame, context);
          for (const int out : step.out) tap(out, frame, context);
        },
        any);
    if (sums) sums->begin(static_cast<size_t>(number), frame.queue);
  }
  copy_updates(frame);
  if (sums) sums->end(frame.queue);
}

/// Sums that were captured are those of others.
void DevicePlan::prepare_sums(Frame& frame, const std::shared_ptr<StateSums>& sums) const {
  if (!sums || (frame.sums && frame.sums->are(*sums))) return;
  if (frame.summing.graph) frame.queue.api().drop(frame.summing.graph);
  frame.summing = {};
  frame.sums.emplace(parts(), frame.where, sums);
}

/// What updates the state and was not made in its place.
void DevicePlan::copy_updates(Frame& frame) const {
  for (const Update& update : parts().updates)
    if (!update.in_place)
      frame.queue.transfer(frame.where[static_cast<size_t>(update.to)], frame.where[static_cast<size_t>(update.from)],
                           slot(update.to).desc->bytes());
}

/// What kernels found wrong with what tensors hold.
void DevicePlan::check_faults(Frame& frame) const {
  Fault& shared = *frame.queue.api().fault(&frame.queue.get());
  const Fault fault = std::exchange(shared, {});
  if (fault.step == 0) return;
  const auto* step = std::get_if<Planned>(&parts().steps[static_cast<size_t>(fault.step - 1)]);
  input_error(fault.length < 0 ? "integer division by zero"
                               : fmt::format("index {} is outside an axis of {} elements", fault.place, fault.length),
              step && step->node ? step->node->label() : std::string());
}

/// The first run loads kernels and chooses algorithms; the second is captured while it is put in the queue.
void DevicePlan::capture_or_launch(Frame& frame, const RunContext& context) const {
  const GpuInterface& api = frame.queue.api();
  Queue* queue = &frame.queue.get();
  Frame::Recorded& recorded = context.hooks->sums ? frame.summing : frame.alone;
  const bool may_capture = !on_host_ && options_.taps.empty() && !context.profile && !frame.queue.has_looked();
  if (!recorded.graph && may_capture && ++recorded.runs == 2 && !api.begin_capture(queue)) {
    try {
      run_steps(frame, context);
    } catch (...) {
      api.end_capture(queue, &recorded.graph);
      throw;
    }
    check(api.end_capture(queue, &recorded.graph), "capturing a graph");
  }
  if (recorded.graph && may_capture)
    check(api.launch(queue, recorded.graph), "launching a graph");
  else
    run_steps(frame, context);
}

std::vector<Datum> DevicePlan::run(std::span<const Datum> inputs, const RunContext& context) const {
  const Parts& p = parts();
  std::unique_ptr<Frame> frame = frames_.take([&] { return new_frame(); });
  start(*frame, inputs, context);
  for (const Update& update : p.updates) options_.state->note_change(slot(update.to).value->name);
  prepare_sums(*frame, context.hooks->sums);
  capture_or_launch(*frame, context);
  std::vector<Datum> outputs = fetch_outputs(*frame);
  check_faults(*frame);
  if (context.hooks->sums) frame->sums->note();
  if (options_.tuning && !frame->alone.graph && !frame->summing.graph) options_.tuning->note(frame->queue);
  if (context.hooks->on_ready)
    for (const Output& output : p.announced) context.hooks->on_ready(output.name, fetch(output.slot, *frame));
  for (const int k : p.inputs) frame->data[static_cast<size_t>(k)] = Datum();
  frames_.give_back(std::move(frame));
  return outputs;
}

}  // namespace mlopt::gpu
