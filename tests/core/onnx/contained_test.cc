#include "core/onnx/contained.h"

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
