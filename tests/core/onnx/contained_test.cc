#include "core/onnx/contained.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "tests/support/catch.h"
#include "tests/support/error.h"

using namespace mlopt;
using mlopt::test::contains;

TEST_CASE("work in a process of its own gives its result, however long") {
  const std::string large(1 << 20, 'x');
  CHECK(*run_contained([&] { return large; }, 10) == large);
  CHECK(run_contained([] { return std::string(); }, 10)->empty());
}

TEST_CASE("what goes wrong there is a reason here") {
  const auto reason = [](const std::function<std::string()>& work) {
    const auto result = run_contained(work, 1);
    return result ? "" : result.error().reason;
  };
  CHECK(contains(reason([]() -> std::string {
                   std::raise(SIGKILL);
                   return {};
                 }),
                 "signal 9"));
  CHECK(contains(reason([]() -> std::string {
                   while (true) ::pause();
                 }),
                 "longer than 1 s"));
  CHECK(contains(reason([]() -> std::string { throw 1; }), "failed"));
  const auto late = [](const std::function<std::string()>& work) { return run_contained(work, 1).error().late; };
  CHECK(late([]() -> std::string {
    while (true) ::pause();
  }));
  CHECK_FALSE(late([]() -> std::string { throw 1; }));
}

TEST_CASE("it ends when the process that waits for it is killed") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t waiting = ::fork();
  if (waiting == 0) {
    ::close(ends[0]);
    run_contained(
        [&]() -> std::string {
          if (::write(ends[1], "x", 1) != 1) return {};
          while (true) ::pause();
        },
        60);
    ::_exit(0);
  }
  ::close(ends[1]);
  char byte = 0;
  CHECK(::read(ends[0], &byte, 1) == 1);  // it has begun
  ::kill(waiting, SIGKILL);
  ::waitpid(waiting, nullptr, 0);
  pollfd end{ends[0], POLLIN, 0};
  CHECK(::poll(&end, 1, 10000) == 1);
  CHECK(::read(ends[0], &byte, 1) == 0);  // nobody has its end of the pipe any more
  ::close(ends[0]);
}
