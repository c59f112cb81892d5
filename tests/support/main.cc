#define CATCH_CONFIG_RUNNER
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/listener.h"

namespace mlopt::test {
namespace {

constexpr int kSkipped = 77;
uint64_t skipped_tests = 0;
uint64_t all_tests = 0;

struct CountTests : Listener {
  using Listener::Listener;
  void testRunEnded(const Catch::TestRunStats& stats) override { all_tests = stats.totals.testCases.total(); }
};
CATCH_REGISTER_LISTENER(CountTests)

/// Is a source the test of a folder of tests/, which is named by two levels at most?
bool is_of(std::string_view source, const std::string& folder) {
  const std::string_view name = source.substr(source.rfind("/tests/") + 7);
  const std::string_view holds = name.substr(0, name.rfind('/'));
  const size_t first = holds.find('/'), second = first == holds.npos ? first : holds.find('/', first + 1);
  return holds.substr(0, second) == folder;
}

/// A test's name as Catch reads one on its command line.
std::string as_argument(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    if (std::string_view("\\\",[*").find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text + '"';
}

/// Those of a folder. Catch's own --filenames-as-tags knows a file by its stem, which other folders have too.
template <class Registry>
std::vector<std::string> tests_of(const Registry& registry, const std::string& folder) {
  std::vector<std::string> names;
  const auto add = [&](const auto& test) {
    if (is_of(test.lineInfo.file, folder)) names.push_back(as_argument(test.name) + ",");
  };
  if constexpr (requires { registry.getAllInfos(); })  // Catch2 3
    for (const auto* test : registry.getAllInfos()) add(*test);
  else
    for (const auto& test : registry.getAllTests()) add(test);
  return names;
}

}  // namespace

void skip(std::string_view reason) {
  ++skipped_tests;
  std::printf("skipped: %.*s\n", static_cast<int>(reason.size()), reason.data());
  SUCCEED("skipped");
}

}  // namespace mlopt::test

/// Catch's options, and as the first `--folder FOLDER`: the tests of tests/FOLDER alone.
int main(int argc, char** argv) {
  using namespace mlopt::test;
  Catch::Session session;
  const bool whole = argc < 3 || std::string_view(argv[1]) != "--folder";
  if (const int wrong = session.applyCommandLine(whole ? argc : argc - 2, whole ? argv : argv + 2)) return wrong;
  if (!whole) {
    auto& chosen = session.configData().testsOrTags;
    chosen = tests_of(Catch::getRegistryHub().getTestCaseRegistry(), argv[2]);
    if (chosen.empty()) return std::fprintf(stderr, "no tests in tests/%s\n", argv[2]), 1;
  }
  const int status = session.run();
  return status == 0 && skipped_tests > 0 && skipped_tests == all_tests ? kSkipped : status;
}
