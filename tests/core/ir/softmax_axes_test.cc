#include "core/ir/softmax_axes.h"

#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

Dims axes_of(const std::string& attributes, const Dims& x, int64_t opset) {
  const Model model = test::fixture("g (float[A] x) => (float[A] y) { y = Softmax " + attributes + " (x) }", opset);
  const Middle m = softmax_axes({*model.graph->nodes()[0], opset}, x);
  return {m.outer, m.length, m.inner};
}

}  // namespace

TEST_CASE("a softmax is over one axis, by default the last, or over all from one on in old opsets") {
  CHECK(axes_of("", {2, 3, 4}, 13) == Dims{6, 4, 1});
  CHECK(axes_of("<axis = 1>", {2, 3, 4}, 13) == Dims{2, 3, 4});
  CHECK(axes_of("", {2, 3, 4}, 11) == Dims{2, 12, 1});
  CHECK(axes_of("<axis = -1>", {2, 3, 4}, 11) == Dims{6, 4, 1});
  CHECK(axes_of("", {5}, 11) == Dims{5, 1, 1});
  CHECK_THROWS_AS(axes_of("<axis = 1>", {5}, 13), Error);
}
