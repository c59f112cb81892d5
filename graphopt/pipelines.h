#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/rewrite/pass.h"

namespace mlopt::graphopt {

/// Which passes run. Names are globs over pass names, or what other optimizers call a pass (see aliases.h).
struct PassSelection {
  std::vector<std::string> passes;     ///< only these; empty: all
  std::vector<std::string> no_passes;  ///< but not these
};

/// Runs the selected passes to a fixed point; tallies by pass name. Throws Error{kUsage} for a glob that selects
/// nothing.
std::map<std::string, PassTally> fuse(Model& model, const PassContext& context, const PassSelection& selection = {});

/// What a backend or a quantizer wants done to a model before it looks at it: everything that `fuse` does, but what
/// changes which inputs it has.
void prepare(Model& model, const PassContext& context);

}  // namespace mlopt::graphopt
