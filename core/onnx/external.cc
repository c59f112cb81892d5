#include <algorithm>
#include <filesystem>
#include <optional>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/onnx/io.h"
#include "core/onnx/proto.h"

namespace mlopt::proto {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const Source& source, const std::string& location, const char* why) {
  input_error(std::string("external data refused: ") + why, "'" + location + "' in " + source.path,
              "external files must be below the model's folder, named by a relative path");
}

bool is_below(const fs::path& file, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first == folder.end();
}

/// The folder of what a link leads to; nothing where the path is none.
std::optional<fs::path> folder_behind(const std::string& path) {
  std::error_code failed;
  if (!fs::is_symlink(path, failed)) return std::nullopt;
  const fs::path real = fs::canonical(path, failed);
  return failed ? std::nullopt : std::optional(real.parent_path());
}

/// The real path of `location`, which must be a regular file below the real path of the model's folder, or of that of
/// the file which the model's path leads to.
fs::path resolve(const Source& source, const std::string& location) {
  const fs::path relative(location);
  if (location.empty()) refuse(source, location, "no file is named");
  if (location.find('\0') != std::string::npos) refuse(source, location, "the name is not a path");
  if (relative.is_absolute() || location.front() == '\\') refuse(source, location, "the path is absolute");
  for (const fs::path& piece : relative)
    if (piece == "..")
      refuse(source, location,
             *relative.lexically_normal().begin() == ".." ? "the path leaves the model's folder"
                                                          : "the path goes up by '..'");

  std::error_code failed;
  const fs::path folder = fs::canonical(source.folder.empty() ? "." : source.folder, failed);
  if (failed) input_error("cannot open the model's folder", source.folder);
  // A hub's cache has links beside one another to files beside one another.
  const fs::path real_folder = folder_behind(source.path).value_or(folder);
  fs::path real = fs::canonical(folder / relative, failed);
  if (failed) real = fs::canonical(real_folder / relative, failed);
  if (failed) {
    input_error("external data missing", "'" + location + "' of " + source.path,
                "put the file beside the model, under this name");
  }
  if (!is_below(real, folder) && !is_below(real, real_folder))
    refuse(source, location, "a link leads out of the model's folder");
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

namespace mlopt {

std::string external_path(const std::string& model, const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code failed;
  const fs::path folder = fs::path(model).parent_path();
  if (fs::exists(folder / name, failed)) return (folder / name).string();
  return (proto::folder_behind(model).value_or(folder) / name).string();
}

}  // namespace mlopt
