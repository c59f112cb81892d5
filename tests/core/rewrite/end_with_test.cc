#include "core/rewrite/end_with.h"

#include "core/ir/verify.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {

TEST_CASE("a model ends with other values, and loses what they do not need") {
  for (const int given : {1, 3}) {
    Net net;
    Value* a = net.op("Tanh", {net.input({2})});
    Value* b = net.op("Exp", {a});
    for (int i = 0; i < given; ++i) net.output(net.op("Neg", {b}));
    const std::vector<std::string> names = {a->name, b->name};
    end_with(net.model, names);
    verify(net.model);
    CHECK(listed_ops(net.model) == "Exp 1, Tanh 1");
    REQUIRE(net.graph().outputs().size() == (given == 1 ? 2 : 3));
    CHECK(net.graph().outputs()[0]->name == names[0]);
    CHECK(net.graph().outputs().back()->name == names[1]);
  }
}

}  // namespace mlopt::test
