#include "backends/cpu/targets.h"

#include <cstdlib>
#include <map>
#include <string>

#include "tests/support/listener.h"
#include "tests/support/targets.h"

namespace mlopt::test {
namespace {

void choose() { hwy::GetChosenTarget().Update(hwy::SupportedTargets()); }

/// Where ONEDNN_MAX_CPU_ISA keeps oneDNN to the instructions of an older machine, kernels of ours keep to them too.
struct OlderMachine : Listener {
  using Listener::Listener;
  void testRunStarting(const Catch::TestRunInfo& info) override {
    Listener::testRunStarting(info);
    const std::map<std::string, int64_t> most = {{"SSE41", HWY_SSE4}, {"AVX", HWY_SSE4}, {"AVX2", HWY_AVX2}};
    const char* given = std::getenv("ONEDNN_MAX_CPU_ISA");
    const auto found = most.find(given ? given : "");
    if (found != most.end()) hwy::DisableTargets(found->second - 1);  // newer ones have lower bits
  }
};
CATCH_REGISTER_LISTENER(OlderMachine)

}  // namespace

std::vector<int64_t> targets() { return hwy::SupportedAndGeneratedTargets(); }

TargetScope::TargetScope(int64_t target) {
  hwy::SetSupportedTargetsForTest(target);
  choose();
}

TargetScope::~TargetScope() {
  hwy::SetSupportedTargetsForTest(0);
  choose();
}

}  // namespace mlopt::test
