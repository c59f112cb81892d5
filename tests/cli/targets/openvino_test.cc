#include "cli/targets.h"
#include "core/base/text.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

std::string objections(const std::string& graph, int64_t opset = 21) {
  Model model = test::fixture(graph, opset);
  model.set_opset("com.microsoft", 1);
  std::vector<std::string> all;
  for (const cli::Unsupported& node : cli::unsupported_by(model, "openvino")) all.push_back(node.reason);
  return join(all, "; ");
}

}  // namespace

TEST_CASE("what OpenVINO runs is told by operator and type") {
  CHECK(objections("g (float[N,4] x) => (float[N,4] y) { a = Gelu (x)  y = com.microsoft.QuickGelu (a) }").empty());
  CHECK(objections("g (float[N,4,4] x) => (float[N] y) { y = Det (x) }") == "OpenVINO does not run Det");
  CHECK(objections("g (float[N,4] x) => (float[N,4] y) { y = Swish (x) }", 24) == "OpenVINO does not run Swish");
  CHECK(objections("g (float[N,4] x) => (float[N,4] y) { y = com.microsoft.Inverse (x) }") ==
        "OpenVINO does not run com.microsoft.Inverse");
  CHECK(objections("g (string[N] x) => (string[N] y) { y = Identity (x) }") ==
        "OpenVINO does not run Identity on string");
  CHECK(objections("g (float[4] x) => (seq(float[4]) y) { y = SequenceConstruct (x) }") ==
        "OpenVINO runs SequenceConstruct only where it can do without the sequence");
}
