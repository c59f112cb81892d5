#include "core/exec/by_shape.h"

#include <fmt/core.h>
#include <omp.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>

#include "core/base/error.h"

namespace mlopt {
namespace {

/// Signatures that one step remembers; the oldest is forgotten first.
constexpr size_t kRemembered = 64;

using Descs = std::vector<std::optional<TensorDesc>>;

/// Nothing where an input is no dense tensor with elements.
std::optional<Descs> descs_of(const Call& call) {
  Descs descs;
  for (int i = 0; i < call.input_count(); ++i) {
    descs.emplace_back();
    if (!call.has(i)) continue;
    if (!call.datum(i).is_tensor() || call.in(i).size() == 0 || call.in(i).dtype() == DType::kString)
      return std::nullopt;
    descs.back() = TensorDesc{call.in(i).dtype(), call.in(i).dims()};
  }
  return descs;
}

/// Nothing where the graph does not say.
std::optional<Descs> descs_of(const Node& node) {
  Descs descs;
  for (const Value* v : node.inputs()) {
    descs.emplace_back();
    if (!v) continue;
    auto dims = v->type.is_tensor() ? v->type.static_dims() : std::nullopt;
    if (!dims || v->type.dtype == DType::kUndefined || element_count(*dims) == 0) return std::nullopt;
    descs.back() = TensorDesc{v->type.dtype, std::move(*dims)};
  }
  return descs;
}

class ByShape {
 public:
  ByShape(const NodeView& view, const CompileContext& context, Expected<PlannedStep> (*plan)(const Site&))
      : view_(view),
        context_(context),
        plan_(plan),
        next_(context.next ? context.next() : Decline{"no other backend is asked"}) {
    context_.next = nullptr;
  }

  void run(Call& call) {
    const auto descs = descs_of(call);
    const auto planned = descs ? planned_for(*descs) : nullptr;
    if (planned && *planned) return run(**planned, call);
    if (next_) return (*next_)(call);
    unsupported_error(fmt::format("no kernel for these inputs: {}", planned ? planned->error().reason : "one is empty"),
                      view_.node().label());
  }

 private:
  struct Known {
    int threads;
    Descs in;
    std::shared_ptr<const Expected<PlannedStep>> step;
  };

  std::shared_ptr<const Expected<PlannedStep>> planned_for(const Descs& in) {
    const int threads = omp_get_max_threads();
    const std::lock_guard lock(mutex_);
    const auto found =
        std::find_if(known_.begin(), known_.end(), [&](const Known& k) { return k.threads == threads && k.in == in; });
    if (found != known_.end()) return found->step;
    if (known_.size() == kRemembered) known_.erase(known_.begin());
    const Site site{view_, in, Layout::kRowMajor, context_};
    Expected<PlannedStep> step = plan_(site);
    const auto wants_copies = [](Layout wanted) { return wanted != Layout::kRowMajor; };
    if (step && (std::any_of(step->in.begin(), step->in.end(), wants_copies) ||
                 std::any_of(step->out.begin(), step->out.end(),
                             [](const auto& d) { return !d.is_any_layout() && d.layout != Layout::kRowMajor; })))
      step = Decline{"only in another layout"};
    known_.push_back({threads, in, std::make_shared<const Expected<PlannedStep>>(std::move(step))});
    return known_.back().step;
  }

  static void run(const PlannedStep& step, Call& call) {
    const int inputs = call.input_count(), outputs = static_cast<int>(step.out.size());
    std::vector<std::byte*> where(static_cast<size_t>(inputs + outputs));
    std::vector<int> slots(where.size());
    std::iota(slots.begin(), slots.end(), 0);
    for (int i = 0; i < inputs; ++i)
      if (call.has(i)) where[static_cast<size_t>(i)] = const_cast<std::byte*>(call.in(i).raw());
    std::vector<Tensor> made;
    for (const TensorDesc& desc : step.out) {
      made.emplace_back(desc.dtype, desc.dims);
      where[static_cast<size_t>(inputs) + made.size() - 1] = made.back().mutable_raw();
    }
    if (step.view_of >= 0) {
      std::memcpy(made[0].mutable_raw(), where[static_cast<size_t>(step.view_of)] + step.view_offset, made[0].bytes());
    } else {
      Tensor scratch(DType::kU8, {static_cast<int64_t>(step.scratch_bytes)});
      std::any memo;
      const std::span all(slots);
      step.run(Buffers(where.data(), all.first(static_cast<size_t>(inputs)), all.subspan(static_cast<size_t>(inputs)),
                       scratch.mutable_raw(), memo));
    }
    for (int i = 0; i < outputs; ++i) call.set(i, std::move(made[static_cast<size_t>(i)]));
  }

  NodeView view_;
  CompileContext context_;
  Expected<PlannedStep> (*plan_)(const Site&);
  Expected<Step> next_;
  std::mutex mutex_;
  std::vector<Known> known_;
};

}  // namespace

Expected<Step> by_shape(const NodeView& view, const CompileContext& context,
                        Expected<PlannedStep> (*plan)(const Site&)) {
  if (const auto descs = descs_of(view.node())) {
    const Expected<PlannedStep> trial = plan({view, *descs, Layout::kRowMajor, context});
    if (!trial) return trial.error();
  }
  auto state = std::make_shared<ByShape>(view, context, plan);
  return Step([state](Call& call) { state->run(call); });
}

}  // namespace mlopt
