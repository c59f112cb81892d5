#pragma once
#include <span>

#include "core/rewrite/pass.h"

namespace mlopt {

/// Does nothing read what the node gives? A node without outputs is there for what it does.
bool has_no_effect(const Node& node);

/// One walk over every node of the model, bodies first, with the rules of a pass. What a rule made and then declined,
/// or what `context.objection` is against, is taken back. Gives how many rewrites were done.
int64_t walk_rules(Model& model, std::span<const Rule> rules, const PassContext& context, PassTally& tally);

}  // namespace mlopt
