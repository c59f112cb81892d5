#pragma once
#include <optional>
#include <string>

#include "cli/verb/verb.h"
#include "prune/spec.h"

namespace mlopt::cli {

/// What is measured of results of prunings depends on.
Json key_of(const VerbOptions& verb, const prune::Spec& spec, const Model& source);
/// What an earlier run has kept; nothing where there is no such file. Throws Error{kBadInput} for one of another key.
std::optional<Json> kept_in(const std::string& file, const Json& key);
/// Throws Error{kBadInput} where there is none.
const Json& member(const Json& json, const char* key, const std::string& file);

}  // namespace mlopt::cli
