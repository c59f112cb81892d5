#include "core/onnx/operands.h"

#include <vector>

#include "core/onnx/io.h"
#include "core/onnx/tools.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"

using namespace mlopt;
using mlopt::test::contains;
using mlopt::test::error_of;

namespace {

std::string message_of(const std::string& nodes, int opset = 21) {
  return error_of([&] {
    parse_text("<ir_version: 10, opset_import: [\"\" : " + std::to_string(opset) +
               "]> g (float[2] x) => (float[2] y) { " + nodes + " }");
  });
}

}  // namespace

TEST_CASE("the numbers of operands are those of the schemas of every version") {
  const std::vector<OperatorVersion> all = standard_operators();
  CHECK(all.size() > 500);
  for (const OperatorVersion& version : all) {
    CAPTURE(version.op, version.opset);
    Graph graph;
    const OperandCount count = operand_count(*graph.add_node("", version.op, {}, {}), version.opset);
    CHECK((version.most >= INT32_MAX ? count.most == SIZE_MAX : count.most == version.most));
    if (count.list)
      CHECK((count.required == 1 && version.required == 0));  // the schemas count what is repeated apart
    else if (version.op == "Resize" && version.opset == 11)
      CHECK(count.required == 1);  // exporters omit the region that it does not use
    else
      CHECK(count.required == version.required);
  }
}

TEST_CASE("a node without an operand, or with too many, is named, in bodies and functions too") {
  CHECK(contains(message_of("y = Sum (x, , x)"), "input 1 is missing"));
  CHECK(contains(message_of("y = Sum ()"), "input 0 is missing"));
  CHECK(contains(message_of("y = Add (x, x, x)"), "Add has 3 inputs, and takes 2"));
  CHECK(message_of("y = Sum (x, x, x)").empty());
  CHECK(contains(message_of("y = Add (x, )"), "input 1 is missing"));
  CHECK(contains(message_of("y = Add (x)"), "input 1 is missing"));
  CHECK(contains(message_of("y = Relu ()"), "input 0 is missing"));
  CHECK(message_of("y = Clip (x, , )").empty());
  CHECK(message_of("y = Unsqueeze <axes = [0]> (x)", 11).empty());
  CHECK(contains(message_of("y = Unsqueeze (x, x)", 11), "Unsqueeze has 2 inputs, and takes 1"));
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

TEST_CASE("a call has no more inputs and outputs than its function, in bodies and functions too") {
  const auto error = [](const std::string& nodes, const std::string& inner) {
    return error_of([&] {
      parse_text(R"(<ir_version: 10, opset_import: ["" : 21, "own" : 1]> g (bool c, float[2] x) => (float[2] y) { )" +
                 nodes + R"( } <domain: "own", opset_import: ["" : 21]> F (a, b) => (c) { c = Relu (a) }
                 <domain: "own", opset_import: ["own" : 1]> G (a) => (b) { b = )" +
                 inner + " }");
    });
  };
  const std::string why = "more inputs or outputs than function 'F' has";
  CHECK(error("y = own.F (x, x)", "own.F (a)").empty());
  CHECK(contains(error("[call] y = own.F (x, x, x)", "own.F (a)"), why + ": own.F 'call'"));
  CHECK(contains(error("y, z = own.F (x)", "own.F (a)"), why));
  CHECK(contains(error("y = own.G (x)", "own.F (a, a, a)"), why));
  CHECK(contains(error("y = If (c) <then_branch = t () => (float[2] p) { p = own.F (x, x, x) }, "
                       "else_branch = e () => (float[2] q) { q = Neg (x) }>",
                       "own.F (a)"),
                 why));
}
