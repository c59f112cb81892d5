#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/rewrite/pass.h"

namespace mlopt::graphopt {

inline constexpr int kLevels = 3;

/// Looks at what a pass that changed the model made of it (null: it failed); `false` undoes that, and the pass does not
/// run again.
using Guard =
    std::function<bool(const Pass& pass, const Model& before, const Model* after, const PassContext& context)>;

/// Which passes run. Names are globs over pass names, or what other optimizers call a pass (see aliases.h).
struct PassSelection {
  std::vector<std::string> passes;     ///< only these; empty: all
  std::vector<std::string> no_passes;  ///< but not these
  int level = kLevels;                 ///< and only those of this level and below; 0: none
  Guard guard = {};                    ///< of each pass that changes something; empty: nobody looks
};

/// Runs the selected passes to a fixed point; tallies by pass name. Throws Error{kUsage} for a glob that selects
/// nothing.
std::map<std::string, PassTally> fuse(Model& model, const PassContext& context, const PassSelection& selection = {});

/// What a backend wants done to a model before it looks at it: everything that `fuse` does, but what changes which
/// inputs it has.
void prepare(Model& model, const PassContext& context);
/// The same for a quantizer, but what makes weights harder to round, and passes that are named.
void prepare_to_quantize(Model& model, const PassContext& context, std::vector<std::string> no_passes = {});

}  // namespace mlopt::graphopt
