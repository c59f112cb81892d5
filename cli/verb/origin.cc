#include "cli/verb/origin.h"

#include <algorithm>
#include <filesystem>

#include "cli/verb/verb.h"
#include "cli/version.h"
#include "core/base/hash.h"
#include "core/rewrite/pass.h"

namespace mlopt::cli {
namespace {

std::string digest(const Model& model) {
  Hash hash;
  write_model_to(model, [&](std::span<const std::byte> piece) { hash.add(piece); });
  return hash.digest();
}

}  // namespace

std::string source_hash(const Model& source) {
  if (!std::filesystem::is_regular_file(source.path)) return digest(source);
  Hash hash;
  hash.add_file(source.path);
  for (const std::string& name : source.external_files) hash.add_file(external_path(source.path, name));
  return hash.digest();
}

std::string_view recorded(const Model& model, std::string_view key) {
  for (const auto& [name, value] : model.metadata)
    if (name == key) return value;
  return {};
}

namespace {

/// Was the source made in this way already, and is the result the same model again? Its origin is then the source's.
bool is_source_again(const Model& source, const std::string& spec, const Model& result) {
  constexpr int64_t kMost = int64_t{1} << 30;  // bytes that are read twice for this
  if (recorded(source, "mlopt.spec") != spec || recorded(source, "mlopt.version") != version()) return false;
  return constant_bytes(source) < kMost && constant_bytes(result) < kMost && digest(source) == digest(result);
}

void set(Model& model, const std::string& key, const std::string& value) {
  const auto found =
      std::find_if(model.metadata.begin(), model.metadata.end(), [&](const auto& entry) { return entry.first == key; });
  if (found != model.metadata.end())
    found->second = value;
  else
    model.metadata.emplace_back(key, value);
}

}  // namespace

void record_origin(const Model& source, const VerbResult& made, Model& result) {
  if (is_source_again(source, made.spec, result)) return;
  set(result, "mlopt.version", std::string(version()));
  set(result, "mlopt.spec", made.spec);
  set(result, "mlopt.source_hash", made.source_hash.empty() ? source_hash(source) : made.source_hash);
}

}  // namespace mlopt::cli
