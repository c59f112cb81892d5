#include "cli/large.h"

#include <filesystem>

#include "cli/backends.h"
#include "core/calib/in_parts.h"

namespace mlopt::cli {
namespace {

constexpr int64_t kLargeBytes = int64_t{1} << 30;
constexpr int64_t kPartBytes = int64_t{256} << 20;  // of weights, beside which they lie packed

}  // namespace

bool is_large(const Model& source) { return source.file_bytes > kLargeBytes; }

bool runs_in_parts(const std::string& device, const Model& source) {
  return is_large(source) && !device.starts_with("gpu");
}

std::unique_ptr<Backend> open_backend_for(const std::string& device, const Model& source) {
  std::unique_ptr<Backend> backend = open_backend(device);
  return runs_in_parts(device, source) ? in_parts(std::move(backend), kPartBytes) : std::move(backend);
}

std::string waiting_folder(const Model& source, const std::string& output) {
  if (!is_large(source)) return {};
  const std::string folder = std::filesystem::path(output == "-" ? "." : output).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace mlopt::cli
