#include "core/ir/dump.h"

#include "core/onnx/io.h"
#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("a dump shows nodes, types, attributes and bodies, one a line") {
  const Model model = parse_text(R"(
    <ir_version: 10, opset_import: ["" : 21]>
    main (float[N,4] x, bool c) => (float[N,4] y) <float[4] w = {1, 2, 3, 4.5}> {
      [first] h = Add (x, w)
      y = If (c) <then_branch = a () => (float[N,4] t) { t = LeakyRelu <alpha = 0.25> (h) },
                  else_branch = b () => (float[N,4] e) { e = Clip (h, , w) }>
    })");
  CHECK(dump(*model.graph) ==
        "(%x:float32[N,4], %c:bool[]) -> (%y)\n"
        "  %w = float32[4][1,2,3,4.5]\n"
        "  %h = Add(%x, %w) 'first'\n"
        "  %y:float32[N,4] = If<then_branch=body, else_branch=body>(%c)\n"
        "    body () -> (%t)\n"
        "      %t:float32[N,4] = LeakyRelu<alpha=0.25>(%h)\n"
        "    body () -> (%e)\n"
        "      %e:float32[N,4] = Clip(%h, _, %w)\n");
}
