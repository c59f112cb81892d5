#include "core/exec/by_shape.h"

#include <fmt/core.h>
#include <omp.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "core/base/error.h"
#include "core/exec/inferred.h"
#include "core/exec/run_alone.h"

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
    descs.back() = inferred(*v);
    if (!descs.back() || descs.back()->size() == 0) return std::nullopt;
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

  /// Why there is no plan for these shapes; null where there is one, which the runs then use.
  const Decline* declined(const Descs& in) {
    const auto step = planned_for(in);
    return *step ? nullptr : &step->error();
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
    Expected<PlannedStep> step = plan_({view_, in, Layout::kRowMajor, context_});
    const auto wants_copies = [](Layout wanted) { return wanted != Layout::kRowMajor; };
    if (step && (std::any_of(step->in.begin(), step->in.end(), wants_copies) ||
                 std::any_of(step->out.begin(), step->out.end(),
                             [](const auto& d) { return !d.is_any_layout() && d.layout != Layout::kRowMajor; })))
      step = Decline{"only in another layout"};
    known_.push_back({threads, in, std::make_shared<const Expected<PlannedStep>>(std::move(step))});
    return known_.back().step;
  }

  static void run(const PlannedStep& step, Call& call) {
    std::vector<const std::byte*> in;
    for (int i = 0; i < call.input_count(); ++i) in.push_back(call.has(i) ? call.in(i).raw() : nullptr);
    std::vector<Tensor> made;
    std::vector<std::byte*> out;
    for (const TensorDesc& desc : step.out) {
      made.emplace_back(desc.dtype, desc.dims);
      out.push_back(made.back().mutable_raw());
    }
    run_alone(step, in, out);
    for (size_t i = 0; i < made.size(); ++i) call.set(static_cast<int>(i), std::move(made[i]));
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
  const auto state = std::make_shared<ByShape>(view, context, plan);
  if (const auto descs = descs_of(view.node()))
    if (const Decline* why = state->declined(*descs)) return *why;
  return Step([state](Call& call) { state->run(call); });
}

}  // namespace mlopt
