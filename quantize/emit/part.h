#pragma once
#include "core/ir/model.h"

namespace mlopt::quantize {

/// Puts a LeakyRelu of slope 1, which changes nothing and which runtimes fuse into the node before it, between a value
/// and one of its readers, so that runtimes do not see the two as one.
void part(Graph& graph, Use reader);

}  // namespace mlopt::quantize
