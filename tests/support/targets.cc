#include "backends/cpu/targets.h"

#include "tests/support/targets.h"

namespace mlopt::test {
namespace {

void choose() { hwy::GetChosenTarget().Update(hwy::SupportedTargets()); }

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
