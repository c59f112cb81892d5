#include "backends/cpu/at_run.h"

#include "core/base/error.h"

namespace mlopt::cpu {

Expected<Step> at_run(const NodeView& view, const CompileContext& context, bool (*run)(Call&)) {
  const Expected<Step> next = context.next ? context.next() : Decline{"no other backend is asked"};
  return Step([next, run, label = view.node().label()](Call& call) {
    if (run(call)) return;
    if (!next) unsupported_error("no kernel for these inputs", label);
    (*next)(call);
  });
}

}  // namespace mlopt::cpu
