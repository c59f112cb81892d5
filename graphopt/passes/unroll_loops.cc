// Loop whose trip count is a small constant and that nothing ends earlier, Scan along a short axis -> its body so many
// times.
#include "core/rewrite/unroll.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

void run(Model& model, const PassContext& context, PassTally& tally) {
  constexpr int64_t kMostNodes = 64;
  unroll(model, context, kMostNodes, tally);
}

}  // namespace

const Pass unroll_loops = {"unroll_loops", "write out Loops and Scans that run a few times", nullptr, run};

}  // namespace mlopt::graphopt
