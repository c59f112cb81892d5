#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/ir/model.h"

namespace mlopt {

/// What has to be known to go on at `node` of the main graph: the values, model inputs too, that are made before it in
/// the schedule from more than constants, and that it or what is behind it reads.
std::vector<std::string> values_before(const Model& model, const Node& node);

/// What makes `to` of `from`, values of the main graph. Those of `from` are its inputs, as far as they are needed;
/// there may be some that the model does not have.
Model part_between(const Model& model, std::span<const std::string> from, std::span<const std::string> to);

/// The first node of the main graph that computes something else, of more than constants, when the constants of these
/// names change, where such of no constant of the main graph may be of any body; null: there is none.
const Node* first_changed(const Model& model, std::span<const std::string> constants);

/// The nodes of the main graph at which parts begin, but the first, so that the constants of a part take `bytes` at
/// most, or are those of one node.
std::vector<const Node*> part_starts(const Model& model, int64_t bytes);

}  // namespace mlopt
