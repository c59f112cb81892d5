#pragma once
#include <functional>
#include <memory>
#include <span>

#include "core/exec/backend.h"
#include "core/exec/kernel.h"
#include "core/exec/plan.h"
#include "core/ir/infer.h"

namespace mlopt {

using Specialize = std::function<void(Model& bound, TypeRule types)>;

/// Makes what runs a plan elsewhere than in the memory of this process. It takes values that are tapped from there.
using MakePlan = std::function<std::unique_ptr<const Plan>(Plan::Parts parts, const CompileOptions& options)>;

/// Compiles a plan that runs node by node in schedule order: values are freed after their last use, bodies are plans of
/// their own. Kernels are searched list by list; nodes run by any list but the first are reported as fallback_nodes().
/// Where kernels plan for known shapes, a Plan is made for each signature of inputs; `types` tells it the types that
/// infer() lacks. Local functions must have been inlined. Throws Error{kUnsupported} listing every node that no list
/// can run.
/// `specialize` rewrites the graph of a plan, whose shapes are known, before it is planned; empty: nothing does. With
/// CompileOptions::taps_unordered the values that are tapped are outputs of that graph as well.
/// With `make_plan` nothing runs node by node: a run throws Error{kUnsupported} where shapes follow from data.
std::unique_ptr<Executable> compile_interpreter(const Model& model, const CompileOptions& options,
                                                std::span<const KernelList> lists, TypeRule types = nullptr,
                                                Specialize specialize = {}, MakePlan make_plan = {});

}  // namespace mlopt
