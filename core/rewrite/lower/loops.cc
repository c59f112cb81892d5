// Loops and Scans of known length -> their bodies so many times, which are planned with what is around them.
#include "core/rewrite/lower/passes.h"
#include "core/rewrite/unroll.h"

namespace mlopt::lower {
namespace {

void run(Model& model, const PassContext& context, PassTally& tally) {
  constexpr int64_t kMostNodes = 1 << 14;
  unroll(model, context, kMostNodes, tally);
}

}  // namespace

const Pass loops = {"loops", "Loops and Scans of known length written out", nullptr, run};

}  // namespace mlopt::lower
