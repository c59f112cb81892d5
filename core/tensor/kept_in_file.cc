#include "core/tensor/kept_in_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <span>

#include "core/base/error.h"
#include "core/base/file.h"

namespace mlopt {
namespace {

bool write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

Tensor kept_in_file(const Tensor& tensor, const std::string& folder) {
  if (tensor.is_view() || tensor.bytes() == 0) return tensor;
  std::string path = (folder.empty() ? "." : folder) + "/.mlopt-XXXXXX";
  const int fd = ::mkostemp(path.data(), O_CLOEXEC);
  if (fd < 0) return tensor;
  const bool written = write_all(fd, tensor.raw_bytes());
  ::close(fd);
  std::shared_ptr<const MappedFile> file;
  try {
    if (written) file = MappedFile::open(path);
  } catch (const Error&) {
    file = nullptr;  // no more files may be mapped: it stays in memory
  }
  ::unlink(path.c_str());
  return file ? Tensor::view(tensor.dtype(), tensor.dims(), file->bytes(), file) : tensor;
}

}  // namespace mlopt
