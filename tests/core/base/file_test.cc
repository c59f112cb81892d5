#include "core/base/file.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thrown.h"

using namespace mlopt;
using test::TempDir;
using test::thrown_by;
namespace fs = std::filesystem;

namespace {

size_t files_in(const TempDir& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("a mapped file shows its bytes, also after they were released") {
  const TempDir folder;
  const std::string text(20000, 'x');
  const auto file = MappedFile::open(folder.write("a", text));
  file->release(file->bytes());
  CHECK(std::string(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()) == text);
  CHECK(MappedFile::open(folder.write("empty", ""))->bytes().empty());
  CHECK(read_file(folder / "a") == text);
}

TEST_CASE("what cannot be mapped is an error that names it") {
  const TempDir folder;
  CHECK(test::says(thrown_by([&] { MappedFile::open(folder / "none"); }), "none"));
  const Error is_folder = thrown_by([&] { MappedFile::open(folder.path().string()); });
  CHECK(is_folder.code == Code::kBadInput);
  CHECK(test::says(is_folder, "not a regular file"));
}

TEST_CASE("a file appears whole when it is committed, and not before") {
  const TempDir folder;
  const std::string path = folder.write("out", "old");
  {
    AtomicFile file(path);
    file.write("new ");
    file.write("text");
    CHECK(file.size() == 8);
    CHECK(read_file(path) == "old");
    file.commit();
    CHECK(read_file(path) == "new text");
  }
  {
    AtomicFile abandoned(path);
    abandoned.write("half");
  }
  CHECK(read_file(path) == "new text");
  CHECK(files_in(folder) == 1);
}

TEST_CASE("permissions are those of the file that is replaced or follow the umask, links stay links") {
  const TempDir folder;
  const std::string path = folder.write("real", "old"), link = folder / "link", fresh = folder / "fresh";
  REQUIRE(::chmod(path.c_str(), 0600) == 0);
  fs::create_symlink("real", link);
  for (const std::string& target : {link, fresh}) {
    AtomicFile file(target);
    file.write("new");
    file.commit();
  }
  CHECK(fs::is_symlink(link));
  CHECK(read_file(path) == "new");
  const mode_t mask = ::umask(0);
  ::umask(mask);
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  REQUIRE(::stat(fresh.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == (0666 & ~mask));
}

TEST_CASE("what cannot be written is an error, and devices are written as they stand") {
  const TempDir folder;
  CHECK(thrown_by([&] { AtomicFile(folder / "no/such/folder/x"); }).code == Code::kBadInput);
  CHECK(test::says(thrown_by([&] { AtomicFile(folder.path().string()); }), "folder"));
  AtomicFile full("/dev/full");
  CHECK(test::says(thrown_by([&] { full.write("x"); }), "No space left"));
  AtomicFile nowhere("/dev/null");
  nowhere.write("x");
  nowhere.commit();
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("what closing a device reports is an error") {
  const int next = ::dup(STDERR_FILENO);
  ::close(next);
  AtomicFile nowhere("/dev/null");  // gets that number
  ::close(next);
  CHECK(test::says(thrown_by([&] { nowhere.commit(); }), "Bad file descriptor"));
}

TEST_CASE("whether a file can be written is told without a trace") {
  const TempDir folder;
  const std::string old = folder.write("old", "old"), pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  for (const std::string& path : {old, folder / "new", pipe, std::string("/dev/null")}) require_writable(path);
  CHECK(read_file(old) == "old");
  CHECK(files_in(folder) == 2);
  CHECK(thrown_by([&] { require_writable(folder / "no/such/folder/x"); }).code == Code::kBadInput);
  CHECK(test::says(thrown_by([] { require_writable("/dev/full"); }), "No space left"));
}

TEST_CASE("a signal that is ignored stays ignored") {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGHUP, SIG_IGN);
    install_signal_cleanup();
    ::raise(SIGHUP);
    ::_exit(7);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 7));
}

TEST_CASE("an interrupted process leaves the old file and nothing else") {
  const TempDir folder;
  const std::string path = folder.write("out", "old");
  const pid_t child = ::fork();
  if (child == 0) {
    install_signal_cleanup();
    AtomicFile file(path);
    file.write("half");
    ::raise(SIGTERM);
    ::_exit(1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM));
  CHECK(read_file(path) == "old");
  CHECK(files_in(folder) == 1);
}
