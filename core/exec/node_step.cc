#include "core/exec/node_step.h"

#include <fmt/core.h>

#include <new>
#include <stdexcept>

#include "core/base/error.h"
#include "core/exec/by_shape.h"
#include "core/exec/program.h"
#include "core/exec/step_info.h"

namespace mlopt {
namespace {

/// A kernel of the node's operator, and whose it is.
struct Candidate {
  const KernelList* list;
  const Kernel* kernel;
};

struct Found {
  Step step;
  Candidate from;
};

/// The step of the first candidate that does not decline, or the reasons of all.
Expected<Found> first_match(const NodeView& view, std::span<const Candidate> candidates, CompileContext context,
                            bool plan_at_once) {
  std::string reasons;
  for (size_t k = 0; k < candidates.size(); ++k) {
    const auto [list, kernel] = candidates[k];
    if (kernel->run) return Found{kernel->run, candidates[k]};
    context.next = [&view, &context, rest = candidates.subspan(k + 1), plan_at_once]() -> Expected<Step> {
      Expected<Found> found = first_match(view, rest, context, plan_at_once);
      if (!found) return found.error();
      return std::move(found->step);
    };
    Expected<Step> step = kernel->compile ? kernel->compile(view, context)
                                          : by_shape(view, context, kernel->plan, list->reorder, plan_at_once);
    if (step) return Found{std::move(*step), candidates[k]};
    reasons += fmt::format(" ({}: {})", list->backend, step.error().reason);
  }
  return Decline{reasons};
}

Step find_kernel(const NodeView& view, ProgramContext& context, std::string_view& label) {
  const Node& node = view.node();
  std::vector<Candidate> candidates;
  for (const KernelList& list : context.lists)
    for (const Kernel& kernel : list.kernels)
      if (kernel.op == node.op && kernel.domain == node.domain) candidates.push_back({&list, &kernel});
  Expected<Found> found = first_match(view, candidates, context.kernel, context.plan_at_once);
  if (!found) {
    context.unsupported.push_back(node.label() + found.error().reason);
    return {};
  }
  if (found->from.list != &context.lists[0]) context.fallback.push_back(node.label());
  const Kernel& kernel = *found->from.kernel;
  label = kernel.run || kernel.compile ? label_of(kernel, *found->from.list) : "by shape";
  return std::move(found->step);
}

}  // namespace

NodeStep::NodeStep(NodeStep&&) noexcept = default;
NodeStep::~NodeStep() = default;

NodeStep::NodeStep(const Node& node, ProgramContext& context)
    : view_(node, context.model->opset(node.domain)),
      step_(find_kernel(view_, context, kernel_)),
      profile_row_(context.steps.size()),
      salt_(std::hash<std::string>()(node.called())) {
  if (context.options->profile) context.steps.push_back({step_info(view_, kernel_), 0, 0});
  for (const Graph* body : node.bodies()) {
    bodies_.push_back(std::make_unique<Program>(*body, context));
    captured_.push_back(bodies_.back()->captured());
  }
  for (size_t row = profile_row_ + 1; row < context.steps.size(); ++row) context.steps[row].inner = true;
}

void rethrow_with_node(const Node& node) {
  const std::string label = node.label();
  try {
    throw;
  } catch (const Error& e) {
    if (e.where.find(label) != std::string::npos) throw;
    throw Error(e.code, e.message, e.where.empty() ? label : fmt::format("{} ({})", label, e.where), e.fix);
  } catch (const std::bad_alloc&) {
    unsupported_error("out of memory", label, "use a smaller batch or a machine with more memory");
  } catch (const std::length_error&) {
    input_error("a size is out of range", label);
  }
}

StepTimer::StepTimer(const RunContext& context, size_t row) : context_(&context), row_(row) {
  if (context.profile) start_ = std::chrono::steady_clock::now();
}

StepTimer::~StepTimer() {
  if (!context_->profile) return;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
  const std::lock_guard lock(*context_->profile_mutex);
  StepProfile& p = (*context_->profile)[row_];
  p.seconds += spent.count();
  ++p.calls;
}

void NodeStep::run(std::span<const Datum* const> inputs, std::span<Datum> outputs,
                   const std::function<const Datum*(int body, int index)>& captured, const RunContext& context) const {
  const auto run_body = [&](int body, std::span<const Datum> body_inputs) {
    const auto b = static_cast<size_t>(body);
    std::vector<const Datum*> given;
    for (size_t i = 0; i < captured_[b].size(); ++i) given.push_back(captured(body, static_cast<int>(i)));
    return bodies_[b]->run(body_inputs, given, context);
  };
  const BodyRunner bodies = bodies_.empty() ? BodyRunner() : run_body;
  const StepTimer timer(context, profile_row_);
  try {
    Call call(view_, inputs, outputs, bodies, context.seed + salt_);
    step_(call);
  } catch (...) {
    rethrow_with_node(view_.node());
  }
}

}  // namespace mlopt
