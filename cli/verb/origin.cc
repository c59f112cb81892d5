#include "cli/verb/origin.h"

#include <algorithm>
#include <filesystem>

#include "cli/verb/verb.h"
#include "cli/version.h"
#include "core/base/hash.h"

namespace mlopt::cli {

std::string source_hash(const Model& source) {
  Hash hash;
  if (!std::filesystem::is_regular_file(source.path)) {
    write_model_to(source, [&](std::span<const std::byte> piece) { hash.add(piece); });
    return hash.digest();
  }
  hash.add_file(source.path);
  const std::filesystem::path folder = std::filesystem::path(source.path).parent_path();
  for (const std::string& name : source.external_files) hash.add_file((folder / name).string());
  return hash.digest();
}

namespace {

void set(Model& model, const std::string& key, const std::string& value) {
  const auto found =
      std::find_if(model.metadata.begin(), model.metadata.end(), [&](const auto& entry) { return entry.first == key; });
  if (found != model.metadata.end())
    found->second = value;
  else
    model.metadata.emplace_back(key, value);
}

}  // namespace

void record_origin(const Model& source, const std::string& spec, Model& result) {
  set(result, "mlopt.version", std::string(version()));
  set(result, "mlopt.spec", spec);
  set(result, "mlopt.source_hash", source_hash(source));
}

}  // namespace mlopt::cli
