#include "core/ir/infer.h"
#include "quantize/store_weights.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::quantize {

TEST_CASE("blocks that padding would fill are for those who ask for them") {
  for (const int64_t columns : {1, 7, 8, 33, 66, 192}) {
    test::Net net;
    Value* weight = net.constant(test::uniform({columns, 2048}, -0.2, 0.3));
    net.output(net.op("MatMul", {net.input({2, columns}), weight}));
    infer(net.model);
    const auto form = [&](const char* spec) {
      Model made = clone(net.model);
      return store_weights(made, parse_spec(spec), {}).weights.at(0).form;
    };
    INFO(columns);
    if (columns > 1) CHECK((form("w4g128") == "matmulnbits") == (columns >= 8));
    CHECK(form("w4g128:emit=matmulnbits") == "matmulnbits");
  }
}

}  // namespace mlopt::quantize
