#pragma once
#include <string>
#include <string_view>

#include "core/ir/model.h"

namespace mlopt::cli {

/// A digest of the model's file and its external data, in the order of the model; of its bytes when it came through a
/// pipe.
std::string source_hash(const Model& source);

/// What record_origin() wrote under this key, as "mlopt.spec"; empty for models that no command of ours made.
std::string_view recorded(const Model& model, std::string_view key);

}  // namespace mlopt::cli
