#include "core/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/base/error.h"

namespace mlopt {
namespace {

/// Names of unfinished files for the signal handler, which may only read plain memory: fixed slots, each published
/// last. This is the one piece of global state: a signal handler cannot be handed any.
struct Unfinished {
  char path[4096];
  std::atomic<bool> used{false};
};
std::array<Unfinished, 16> unfinished;

void remember(const std::string& path) {
  for (Unfinished& slot : unfinished)
    if (!slot.used && path.size() < sizeof slot.path) {
      std::memcpy(slot.path, path.c_str(), path.size() + 1);
      slot.used = true;
      return;
    }
}

void forget(const std::string& path) {
  for (Unfinished& slot : unfinished)
    if (slot.used && path == slot.path) slot.used = false;
}

extern "C" void clean_up_and_end(int signal) {
  for (Unfinished& slot : unfinished)
    if (slot.used) ::unlink(slot.path);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

std::string reason() { return std::strerror(errno); }

/// By its deleter a file is known behind an owner of bytes.
struct Unmap {
  void operator()(const MappedFile* file) const { delete file; }
};

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) input_error("cannot open the file (" + reason() + ")", path, "check the path and its permissions");
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    input_error("not a regular file", path, "give the path of a file");
  }
  std::shared_ptr<MappedFile> file(new MappedFile, Unmap{});
  file->path_ = path;
  file->size_ = static_cast<size_t>(info.st_size);
  if (file->size_ > 0) {
    void* data = ::mmap(nullptr, file->size_, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data != MAP_FAILED) file->data_ = static_cast<const std::byte*>(data);
  }
  ::close(fd);
  if (file->size_ > 0 && !file->data_) input_error("cannot map the file (" + reason() + ")", path);
  return file;
}

const MappedFile* MappedFile::behind(const std::shared_ptr<const void>& owner) {
  return std::get_deleter<Unmap>(owner) ? static_cast<const MappedFile*>(owner.get()) : nullptr;
}

void MappedFile::release(std::span<const std::byte> part) const {
  static const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(part.data()) + page - 1) / page * page;
  const uintptr_t end = reinterpret_cast<uintptr_t>(part.data() + part.size()) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
}

AtomicFile::AtomicFile(std::string target) : target_(std::move(target)) {
  struct stat info {};
  if (::stat(target_.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
    // A device or a pipe (/dev/null, /dev/stdout) is written as it stands: a rename would put a file in its place.
    fd_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) input_error("cannot write here (" + reason() + ")", target_);
    return;
  }
  if (S_ISDIR(info.st_mode)) input_error("cannot write here (it is a folder)", target_, "give the name of a file");
  std::error_code failure;
  const auto real = std::filesystem::canonical(target_, failure);  // a link stays, what it leads to is replaced
  real_target_ = failure ? target_ : real.string();
  temporary_ = real_target_ + ".XXXXXX";
  fd_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
  if (fd_ < 0)
    input_error("cannot write here (" + reason() + ")", target_, "check that the folder exists and is writable");
  remember(temporary_);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(fd_, S_ISREG(info.st_mode) ? info.st_mode & 0777 : 0666 & ~mask);
}

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  if (temporary_.empty()) return;
  ::unlink(temporary_.c_str());
  forget(temporary_);
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd_, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) input_error("cannot write (" + reason() + ")", target_, "free some space or write elsewhere");
    bytes = bytes.subspan(static_cast<size_t>(done));
    size_ += done;
  }
}

void AtomicFile::write(const std::string& text) { write(std::as_bytes(std::span(text.data(), text.size()))); }

void AtomicFile::commit() {
  // No fsync: a killed process loses nothing without it, and it would take seconds for a large model.
  const int fd = std::exchange(fd_, -1);
  const bool closed = ::close(fd) == 0;  // where some file systems report that the disk is full
  if (temporary_.empty()) {
    if (!closed) input_error("cannot write (" + reason() + ")", target_);
    return;
  }
  const bool renamed = closed && ::rename(temporary_.c_str(), real_target_.c_str()) == 0;
  const std::string why = renamed ? "" : reason();
  if (!renamed) ::unlink(temporary_.c_str());
  forget(temporary_);
  if (!renamed) input_error("cannot write (" + why + ")", target_);
}

void require_writable(const std::string& path) {
  struct stat info {};
  // Opening a pipe would wait for its reader, and closing it end him.
  if (::stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)) AtomicFile probe(path);
  if (!S_ISCHR(info.st_mode)) return;
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  const bool takes = fd >= 0 && ::write(fd, "", 0) == 0;  // /dev/full refuses even that
  const std::string why = takes ? "" : reason();
  if (fd >= 0) ::close(fd);
  if (!takes) input_error("cannot write here (" + why + ")", path, "write elsewhere");
}

void install_signal_cleanup() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // One that is ignored stays so: nohup and the background jobs of a shell count on it.
    if (::signal(signal, clean_up_and_end) == SIG_IGN) ::signal(signal, SIG_IGN);
  }
  ::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of write(), as a full disk is
}

std::string read_file(const std::string& path) {
  const auto file = MappedFile::open(path);
  const auto bytes = file->bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace mlopt
