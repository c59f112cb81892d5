#include "samples/quickstart/network.h"

#include "backends/reference/backend.h"
#include "core/ir/verify.h"
#include "core/onnx/tools.h"
#include "core/tensor/cast.h"
#include "samples/quickstart/pictures.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"

using namespace mlopt;
using namespace mlopt::quickstart;

TEST_CASE("the quickstart's network is valid, and a seed gives its weights") {
  const Model model = make_network(3), same = make_network(3), other = make_network(4);
  CHECK(verify(model).empty());
  CHECK(check_with_onnx(model).errors.empty());
  const Datum x = test::uniform({2, 1, kSide, kSide}, -1, 1);
  const auto scores = [&](const Model& m) {
    return reference_backend()->compile(m, {})->run(std::vector{x})[0].tensor();
  };
  const Tensor found = scores(model);
  CHECK(found.dims() == Dims{2, 10});
  test::require_close(scores(same), found, 0);
  CHECK(to_floats(scores(other)) != to_floats(found));
}
