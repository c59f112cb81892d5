#include "core/exec/by_shape.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/exec/inferred.h"
#include "core/exec/plan_step.h"
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

/// Are these the descriptions of its inputs?
bool describe(const Descs& descs, const Call& call) {
  const auto fits = [&](int i) {
    const auto& desc = descs[static_cast<size_t>(i)];
    if (!desc || !call.has(i)) return !desc && !call.has(i);
    if (!call.datum(i).is_tensor()) return false;
    const Tensor& t = call.in(i);
    return desc->dtype == t.dtype() && desc->dims == t.dims() && desc->layout == Layout::kRowMajor;
  };
  if (static_cast<int>(descs.size()) != call.input_count()) return false;
  for (int i = 0; i < call.input_count(); ++i)
    if (!fits(i)) return false;
  return true;
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

/// A plan, and copies between the layouts that it takes and gives and row-major ones.
struct Planned {
  PlannedStep step;
  std::vector<std::optional<PlannedStep>> before, after;  ///< for each input and output
};

Tensor copied(const PlannedStep& reorder, const Tensor& from) {
  Tensor to(from.dtype(), from.dims());
  const std::byte* const in[] = {from.raw()};
  std::byte* const out[] = {to.mutable_raw()};
  run_alone(reorder, in, out);
  return to;
}

class ByShape {
 public:
  ByShape(const NodeView& view, const CompileContext& context, Expected<PlannedStep> (*plan)(const Site&),
          PlanReorder reorder)
      : view_(view),
        context_(context),
        plan_(plan),
        reorder_(reorder),
        next_(context.next ? context.next() : Decline{"no other backend is asked"}) {
    context_.next = nullptr;
  }

  /// Why there is no plan for these shapes; null where there is one, which the runs then use.
  const Decline* declined(const Descs& in) {
    const auto step = planned_for(in);
    return *step ? nullptr : &step->error();
  }

  void run(Call& call) {
    const auto planned = planned_for(call);
    if (planned && *planned) return run(**planned, call);
    if (next_) return (*next_)(call);
    unsupported_error(fmt::format("no kernel for these inputs: {}", planned ? planned->error().reason : "one is empty"),
                      view_.node().label());
  }

 private:
  struct Known {
    int threads;
    Descs in;
    std::shared_ptr<const Expected<Planned>> plan;
  };

  using Plan = std::shared_ptr<const Expected<Planned>>;

  template <class Fits>
  Plan find(int threads, Fits fits) const {
    const auto found =
        std::find_if(known_.begin(), known_.end(), [&](const Known& k) { return k.threads == threads && fits(k.in); });
    return found == known_.end() ? nullptr : found->plan;
  }

  Plan planned_for(const Descs& in) {
    const int threads = max_threads();
    const std::lock_guard lock(mutex_);
    if (Plan plan = find(threads, [&](const Descs& known) { return known == in; })) return plan;
    if (known_.size() == kRemembered) known_.erase(known_.begin());
    known_.push_back({threads, in, std::make_shared<const Expected<Planned>>(make(in))});
    return known_.back().plan;
  }

  /// Null where an input is no dense tensor with elements.
  Plan planned_for(const Call& call) {
    {
      const int threads = max_threads();
      const std::lock_guard lock(mutex_);
      if (Plan plan = find(threads, [&](const Descs& known) { return describe(known, call); })) return plan;
    }
    const auto descs = descs_of(call);
    return descs ? planned_for(*descs) : nullptr;
  }

  Expected<Planned> make(const Descs& in) const {
    CompileContext here = context_;
    here.threads = max_threads();  // those that plans are kept by
    Expected<PlannedStep> step = plan_step(plan_, {view_, in, Layout::kRowMajor, here});
    if (!step) return step.error();
    Planned planned{*std::move(step), std::vector<std::optional<PlannedStep>>(in.size()), {}};
    bool copies = false;
    for (size_t i = 0; i < planned.step.in.size(); ++i)
      if (in[i] && planned.step.in[i] != Layout::kRowMajor && !in[i]->is_any_layout()) {
        copies = true;
        if (reorder_) planned.before[i] = reorder_(*in[i], in[i]->in(planned.step.in[i]), context_);
      }
    for (const TensorDesc& out : planned.step.out) {
      planned.after.emplace_back();
      if (out.layout == Layout::kRowMajor || out.is_any_layout()) continue;
      copies = true;
      if (reorder_) planned.after.back() = reorder_(out, out.in(Layout::kRowMajor), context_);
    }
    if (copies && !reorder_) return Decline{"only in another layout"};
    return planned;
  }

  static void run(const Planned& planned, Call& call) {
    std::vector<std::byte*> where;
    where.reserve(planned.before.size() + planned.step.out.size());
    std::vector<Tensor> copies;
    for (size_t i = 0; i < planned.before.size(); ++i) {
      const int k = static_cast<int>(i);
      if (planned.before[i]) copies.push_back(copied(*planned.before[i], call.in(k)));
      const std::byte* lies = planned.before[i] ? copies.back().raw() : call.has(k) ? call.in(k).raw() : nullptr;
      where.push_back(const_cast<std::byte*>(lies));  // kernels only read it
    }
    std::vector<Tensor> made;
    made.reserve(planned.step.out.size());
    for (const TensorDesc& desc : planned.step.out) {
      made.emplace_back(desc.dtype, desc.dims);
      where.push_back(made.back().mutable_raw());
    }
    run_alone(planned.step, where);
    for (size_t i = 0; i < made.size(); ++i)
      call.set(static_cast<int>(i), planned.after[i] ? copied(*planned.after[i], made[i]) : std::move(made[i]));
  }

  NodeView view_;
  CompileContext context_;
  Expected<PlannedStep> (*plan_)(const Site&);
  PlanReorder reorder_;
  Expected<Step> next_;
  std::mutex mutex_;
  std::vector<Known> known_;
};

}  // namespace

Expected<Step> by_shape(const NodeView& view, const CompileContext& context, Expected<PlannedStep> (*plan)(const Site&),
                        PlanReorder reorder, bool at_once) {
  const auto state = std::make_shared<ByShape>(view, context, plan, reorder);
  if (const auto descs = at_once ? descs_of(view.node()) : std::nullopt)
    if (const Decline* why = state->declined(*descs)) return *why;
  return Step([state](Call& call) { state->run(call); });
}

}  // namespace mlopt
