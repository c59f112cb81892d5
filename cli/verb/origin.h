#pragma once
#include <string>

#include "core/ir/model.h"

namespace mlopt::cli {

/// A digest of the model's file and its external data, in the order of the model; of its bytes when it came through a
/// pipe.
std::string source_hash(const Model& source);

}  // namespace mlopt::cli
