#include <filesystem>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/onnx/proto.h"

namespace mlopt::proto {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const Source& source, const std::string& location, const char* why) {
  input_error(std::string("external data refused: ") + why, "'" + location + "' in " + source.path,
              "external files must be below the model's folder, named by a relative path");
}

/// The real path of `location`, which must be a regular file below the real path of the model's folder.
fs::path resolve(const Source& source, const std::string& location) {
  const fs::path relative(location);
  if (location.empty()) refuse(source, location, "no file is named");
  if (location.find('\0') != std::string::npos) refuse(source, location, "the name is not a path");
  if (relative.is_absolute() || location.front() == '\\') refuse(source, location, "the path is absolute");
  for (const fs::path& piece : relative)
    if (piece == "..") refuse(source, location, "the path leaves the model's folder");

  std::error_code failed;
  const fs::path folder = fs::canonical(source.folder.empty() ? "." : source.folder, failed);
  if (failed) input_error("cannot open the model's folder", source.folder);
  fs::path real = fs::canonical(folder / relative, failed);
  if (failed) {
    input_error("external data missing", "'" + location + "' of " + source.path,
                "put the file beside the model, under this name");
  }
  const auto [end, unused] = std::mismatch(folder.begin(), folder.end(), real.begin(), real.end());
  if (end != folder.end()) refuse(source, location, "a link leads out of the model's folder");
  if (!fs::is_regular_file(real, failed)) refuse(source, location, "not a regular file");
  return real;
}

}  // namespace

const Source::External& external_file(Source& source, const std::string& location) {
  const auto found = source.external.find(location);
  if (found != source.external.end()) return found->second;
  const auto file = MappedFile::open(resolve(source, location).string());
  return source.external.emplace(location, Source::External{file->bytes(), file}).first->second;
}

}  // namespace mlopt::proto
