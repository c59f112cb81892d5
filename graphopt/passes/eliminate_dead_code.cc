// Nodes and initializers that no output needs -> nothing.
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

void run(Model& model, const PassContext&, PassTally& tally) { tally.applied = remove_dead(model); }

}  // namespace

const Pass eliminate_dead_code = {"eliminate_dead_code", "remove nodes and initializers that no output needs", nullptr,
                                  run};

}  // namespace mlopt::graphopt
