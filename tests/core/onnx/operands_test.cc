#include "core/onnx/operands.h"

#include "core/onnx/io.h"
#include "core/onnx/tools.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"

using namespace mlopt;
using mlopt::test::contains;
using mlopt::test::error_of;

namespace {

/// Some versions require what another one of theirs does not: these are let through.
bool is_lenient(const std::string& op) {
  return op == "Gemm" || op == "Tile" || op == "Resize" || op == "OptionalHasElement";
}

std::string message_of(const std::string& nodes, int opset = 21) {
  return error_of([&] {
    parse_text("<ir_version: 10, opset_import: [\"\" : " + std::to_string(opset) +
               "]> g (float[2] x) => (float[2] y) { " + nodes + " }");
  });
}

}  // namespace

TEST_CASE("as many operands are required as the schemas of every version say") {
  size_t seen = 0;
  for (const OperatorVersion& version : standard_operators()) {
    CAPTURE(version.op, version.opset);
    Graph graph;
    const Node& node = *graph.add_node("", version.op, {}, {});
    const size_t ours = required_operands(node, version.opset);
    if (is_lenient(version.op))
      CHECK(ours <= version.required);
    else if (!version.list)
      CHECK(ours == version.required);
    ++seen;
  }
  CHECK(seen > 400);
}

TEST_CASE("every operand of a list is required, and one at least") {
  for (const OperatorVersion& version : standard_operators()) {
    if (!version.list || version.required > 0 || version.op == "Loop" || version.op == "Scan") continue;
    CAPTURE(version.op);
    CHECK(contains(message_of("y = " + version.op + " (x, , x)"), "input 1 is missing"));
    CHECK(contains(message_of("y = " + version.op + " ()"), "input 0 is missing"));
  }
}

TEST_CASE("a node without an operand is named, in bodies and functions too") {
  CHECK(contains(message_of("y = Add (x, )"), "input 1 is missing"));
  CHECK(contains(message_of("y = Add (x)"), "input 1 is missing"));
  CHECK(contains(message_of("y = Relu ()"), "input 0 is missing"));
  CHECK(message_of("y = Clip (x, , )").empty());
  CHECK(message_of("y = Unsqueeze <axes = [0]> (x)", 11).empty());
  CHECK(contains(message_of("y = Unsqueeze <axes = [0]> (x)", 13), "input 1 is missing"));
  CHECK(message_of("y = com.acme.Add (x, )").empty());
  const std::string body = error_of([&] {
    parse_text(R"(<ir_version: 10, opset_import: ["" : 21]> g (bool c, float[2] x) => (float[2] y) {
        y = If (c) <then_branch = a () => (float[2] t) { [inner] t = Mul (x, ) },
                    else_branch = b () => (float[2] e) { e = Neg (x) }> })");
  });
  CHECK(contains(body, "inner"));
  const std::string function = error_of([&] {
    parse_text(R"(<ir_version: 10, opset_import: ["" : 21, "own" : 1]> g (float[2] x) => (float[2] y) { y = own.F (x) }
        <domain: "own", opset_import: ["" : 21]> F (x) => (y) { y = Sub (x, ) })");
  });
  CHECK(contains(function, "input 1 is missing"));
}
