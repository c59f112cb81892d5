#include "core/data/byte_source.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/error.h"

namespace mlopt {
namespace {

class FileSource final : public ByteSource {
 public:
  explicit FileSource(std::string path) : path_(std::move(path)), fd_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) input_error(fmt::format("cannot open the file ({})", std::strerror(errno)), path_, "check the path");
    struct stat info {};
    if (::fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)) {
      ::close(fd_);
      input_error("not a regular file", path_, "give a file");
    }
    size_ = info.st_size;
  }
  ~FileSource() override { ::close(fd_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  int64_t size() const override { return size_; }
  const std::string& where() const override { return path_; }

  void read(int64_t offset, std::span<std::byte> out) const override {
    while (!out.empty()) {
      const ssize_t got = ::pread(fd_, out.data(), out.size(), offset);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) input_error(fmt::format("cannot read the file ({})", std::strerror(errno)), path_);
      if (got == 0) input_error("the file ends too early", path_, "it is truncated: fetch or write it again");
      out = out.subspan(static_cast<size_t>(got));
      offset += got;
    }
  }

 private:
  std::string path_;
  int fd_;
  int64_t size_ = 0;
};

class PartSource final : public ByteSource {
 public:
  PartSource(Source whole, int64_t offset, int64_t size, std::string where)
      : whole_(std::move(whole)), offset_(offset), size_(size), where_(std::move(where)) {}

  int64_t size() const override { return size_; }
  const std::string& where() const override { return where_; }

  void read(int64_t offset, std::span<std::byte> out) const override {
    const auto count = static_cast<int64_t>(out.size());
    if (offset < 0 || count > size_ || offset > size_ - count) {
      input_error("the data end too early", where_, "the file is truncated or damaged: fetch or write it again");
    }
    whole_->read(offset_ + offset, out);
  }

 private:
  Source whole_;
  int64_t offset_, size_;
  std::string where_;
};

}  // namespace

Source open_source(const std::string& path) { return std::make_shared<FileSource>(path); }

Source part_of(Source whole, int64_t offset, int64_t size, std::string where) {
  if (offset < 0 || size < 0 || offset > whole->size() || size > whole->size() - offset) {
    input_error("the file ends too early", where, "it is truncated or damaged: fetch or write it again");
  }
  return std::make_shared<PartSource>(std::move(whole), offset, size, std::move(where));
}

Source open_maybe_gzip(const std::string& path) {
  Source file = open_source(path);
  std::byte magic[2] = {};
  if (file->size() < 2) return file;
  file->read(0, magic);
  if (magic[0] != std::byte{0x1f} || magic[1] != std::byte{0x8b}) return file;
  return inflated(std::move(file), Compression::kGzip, -1, path);
}

std::string read_all(const ByteSource& source) {
  if (source.size() < 0) internal_error("read_all: the size is not known", source.where());
  std::string bytes(static_cast<size_t>(source.size()), '\0');
  source.read(0, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

}  // namespace mlopt
