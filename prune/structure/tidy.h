#pragma once
#include <string>
#include <vector>

#include "core/rewrite/pass.h"
#include "prune/spec.h"

namespace mlopt::prune {

/// A copy in which shapes are constant and nothing is hidden, layers being as they can be trained on: what was changed
/// of weights is said in `warnings`.
Model tidied(const Model& source, const PassContext& passes, std::vector<std::string>& warnings);

/// Infers types, and leaves batch and heads axes of their own where they are one for a while (keys that PyTorch turns
/// as one axis of both): what is in the graph beside that keeps its name.
void part_axes(Model& model, TypeRule standard);

/// Throws Error{kUsage} where there is no data and the recovery looks at what layers are given.
void require_data(const Spec& spec, bool data);

/// The multiply-accumulates, with the sizes that free dimensions have where nobody says more.
int64_t macs_of(const Model& model, TypeRule standard);

/// Do --only and --skip leave what has these names out?
bool left_out(const Spec& spec, const std::vector<std::string>& names);
/// Throws Error{kUsage} for a glob of these that matches none of the names; `part`: what is removed, as in "blocks".
void check_globs(const Spec& spec, const std::vector<std::string>& names, std::string_view part);

}  // namespace mlopt::prune
