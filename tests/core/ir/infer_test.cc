#include "core/ir/infer.h"

#include "core/onnx/infer.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"
#include "tests/support/infer.h"

using namespace mlopt;
using test::types_in;

TEST_CASE("types flow through the graph in schedule order") {
  CHECK(types_in("float[N,C,8,8] x", "a = Relu(x) b = GlobalAveragePool(a) y = Flatten(b)", "y") == "float32[N,C]");
}

TEST_CASE("what is declared stays where inference knows less, and outputs stay as they are") {
  Model model = parse_text(R"(
    <ir_version: 10, opset_import: ["" : 21, "acme" : 1]>
    main (float[N,4] x) => (float[M,4] y, z) <float[7,4] h> { h = acme.Mystery (x)  y = Relu (x)  z = Neg (h) })");
  infer(model);
  CHECK(to_string(model.graph->find("h")->type) == "float32[7,4]");
  CHECK(to_string(model.graph->find("y")->type) == "float32[M,4]");
  CHECK(to_string(model.graph->find("z")->type) == "float32[7,4]");
}

TEST_CASE("operators that the table lacks are left to the standard's rules") {
  const std::string body = "y = Hardmax(x) z = SpaceToDepth<blocksize = 3>(y)";
  CHECK(types_in("float[N,8,3,3] x", body, "z") == "?");
  CHECK(types_in("float[N,8,3,3] x", body, "z", 21, standard_types) == "float32[N,72,1,1]");
}

TEST_CASE("a node that makes no sense has no types, and does no harm") {
  CHECK(types_in("float[2] x", "y = Concat<axis = 9>(x, x)", "y") == "float32[...]");
  CHECK(types_in("float[2] x", "y = Transpose<perm = [0, 5]>(x)", "y") == "float32[...]");
  CHECK(types_in("float[2] x", "y = Einsum<equation = \"..\">(x)", "y", 21, standard_types) == "?");
}
