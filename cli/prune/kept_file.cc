#include "cli/prune/kept_file.h"

#include <fmt/core.h>

#include <filesystem>

#include "cli/verb/origin.h"
#include "core/base/error.h"
#include "core/base/file.h"

namespace mlopt::cli {

Json key_of(const VerbOptions& verb, const prune::Spec& spec, const Model& source) {
  return Json::object({{"source_hash", source_hash(source)},
                       {"spec", prune::to_string(spec)},
                       {"metric", verb.metric},
                       {"data", verb.data.spec}});
}

std::optional<Json> kept_in(const std::string& file, const Json& key) {
  std::error_code ignored;
  if (file.empty() || !std::filesystem::exists(file, ignored)) return std::nullopt;
  Json kept = Json::parse(read_file(file), file);
  for (const auto& [name, value] : key.members())
    if (member(kept, name.c_str(), file).dump() != value.dump())
      input_error("what it holds was measured for another " + name, file, "name another file, or remove it");
  return kept;
}

const Json& member(const Json& json, const char* key, const std::string& file) {
  const Json* found = json.find(key);
  if (!found) input_error(fmt::format("no '{}' where what was measured has one", key), file, "name another file");
  return *found;
}

}  // namespace mlopt::cli
