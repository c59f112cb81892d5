#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace mlopt {

/// A file mapped read-only; pages are read when touched. Shared by every Tensor that views it.
class MappedFile {
 public:
  /// Throws Error{kBadInput} when the file is missing, unreadable or not a regular file.
  static std::shared_ptr<const MappedFile> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }
  /// The file that keeps bytes alive, or null where something else does.
  static const MappedFile* behind(const std::shared_ptr<const void>& owner);
  /// Lets go of the memory behind a part that was looked at in passing; it is read again when touched again.
  void release(std::span<const std::byte> part) const;

 private:
  MappedFile() = default;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
  std::string path_;
};

/// A file written under a temporary name beside its target and renamed by commit(); without commit(), or when the
/// process is interrupted, the temporary file is removed and the old target stays whole. What a link leads to is
/// replaced, not the link; a device or a pipe is written directly.
class AtomicFile {
 public:
  explicit AtomicFile(std::string target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Appends; throws Error{kBadInput} with the system's reason (disk full, ...).
  void write(std::span<const std::byte> bytes);
  void write(const std::string& text);
  /// Bytes written so far.
  int64_t size() const { return size_; }
  /// Closes and renames over the target.
  void commit();
  const std::string& target() const { return target_; }
  /// Where the bytes are until commit(); empty for a device or a pipe.
  const std::string& temporary() const { return temporary_; }

 private:
  std::string target_, real_target_, temporary_;  // temporary_ is empty for a device or a pipe
  int fd_ = -1;
  int64_t size_ = 0;
};

/// Throws Error{kBadInput} when a file of this name could not be written, so that a long work need not end in that.
void require_writable(const std::string& path);

/// Removes unfinished temporary files on SIGINT, SIGTERM and SIGHUP, then ends with the default action of the signal. A
/// limit on the size of files does not end the process.
void install_signal_cleanup();

/// The whole file, or Error{kBadInput}.
std::string read_file(const std::string& path);

}  // namespace mlopt
