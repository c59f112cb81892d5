#include "quantize/emit/bf16_storage.h"

#include "core/ir/infer.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::quantize {

TEST_CASE("bfloat16 weights are stored in half of their size and computed in float32") {
  test::Net net;
  Value* x = net.op("Gemm", {net.input({3, 64}), net.constant(test::uniform({64, 40}, -0.3, 0.3)),
                             net.constant(test::uniform({40}, -0.3, 0.3))});
  net.output(x);
  infer(net.model);
  Model model = clone(net.model);
  emit_bf16_storage(model, parse_spec("bf16"));
  const Difference d = test::changed_by(net.model, model);
  REQUIRE(d.sqnr_db > 45);
  REQUIRE(d.max_abs > 0);
  CHECK(test::listed_ops(model) == "Cast 1, Gemm 1");  // the bias is small
}

}  // namespace mlopt::quantize
