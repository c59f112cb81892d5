#pragma once
#include <vector>

#include "core/ir/model.h"

namespace mlopt::train {

/// The values of these initializers that rotary embeddings and other encodings of positions compute with, and that no
/// training changes: frequencies and angles, of which cosines and sines are taken and nothing else, tables of
/// RotaryEmbedding, and tables of cosines and sines: two of one shape, or both in the rows of one, whose squares add up
/// to 1.
std::vector<const Value*> angles(const std::vector<Value*>& initializers);

}  // namespace mlopt::train
