#include "core/onnx/io.h"

#include "core/base/error.h"
#include "tests/support/catch.h"

using namespace mlopt;

namespace {

constexpr const char* kText = R"(
<ir_version: 10, opset_import: ["" : 21, "custom" : 1], producer_name: "test", metadata_props: ["a": "b"]>
main (float[N,4] x, float[2] unused = {1, 2}) => (float[N,3] y, float[N,3] z)
<float[4,3] w = {1,2,3,4,5,6,7,8,9,10,11,12}, int64[1] axes = {-1}>
{
  [mm] h = MatMul (x, w)
  y = custom.Thing <alpha = 0.5, names = ["p", "q"], ints: ints = []> (h, , axes)
  z = Relu (h)
})";

}  // namespace

TEST_CASE("a text model becomes a graph") {
  const Model model = parse_text(kText);
  REQUIRE(model.graph->inputs().size() == 2);
  CHECK(to_string(model.graph->inputs()[0]->type) == "float32[N,4]");
  CHECK(model.opset("custom") == 1);
  const Value* w = model.graph->find("w");
  REQUIRE(w->known_constant());
  CHECK(w->known_constant()->span<float>()[11] == 12);
  CHECK_FALSE(model.graph->find("unused")->known_constant());
  REQUIRE(model.graph->node_count() == 3);
  const Node* thing = model.graph->nodes()[1];
  CHECK(thing->domain == "custom");
  CHECK(thing->inputs().size() == 3);
  CHECK(thing->input(1) == nullptr);
  CHECK(std::get<std::vector<int64_t>>(thing->attr("ints")->value).empty());
}

TEST_CASE("a model that is written and read again is the same") {
  const Model model = parse_text(kText);
  const std::string bytes = write_model_bytes(model);
  CHECK(write_model_bytes(read_model_bytes(bytes)) == bytes);
  CHECK(print_text(read_model_bytes(bytes)) == print_text(model));
}

TEST_CASE("types of inner values are written in the order of the nodes, whenever they were made") {
  Model model = parse_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[N] x) => (float[N] y) <float[N] a> { a = Abs (x)  y = Exp (a) })");
  Node* abs = model.graph->find("a")->producer;
  Value* first = model.graph->add_op("Tanh", {abs->input(0)}, {}, abs)->output(0);
  first->type = abs->input(0)->type;
  first->declared = true;
  model.graph->set_input(abs, 0, first);
  const std::string bytes = write_model_bytes(model);
  CHECK(write_model_bytes(read_model_bytes(bytes)) == bytes);
}

TEST_CASE("text that is not a model is refused") {
  CHECK_THROWS_AS(parse_text("main (float x) =>"), Error);
  CHECK_THROWS_AS(parse_text("<ir_version: 10> main () => (float y) { y = Relu(nowhere) }"), Error);
}

TEST_CASE("what the parser of the text form could not read back is refused") {
  Model model = parse_text(kText);
  model.graph->find("w")->constant = Tensor::zeros(DType::kI4, {4, 3});
  CHECK_THROWS_WITH(print_text(model), Catch::Contains("text form cannot hold this model"));
}

TEST_CASE("a text that would lose the defaults of a function's attributes is refused") {
  const auto printed = [](const std::string& attribute) {
    return print_text(parse_text(R"(<ir_version: 10, opset_import: ["" : 21, "local" : 1]>
        main (float[4] x) => (float[4] y) { y = local.act <slope = 0.5> (x) }
        <domain: "local", opset_import: ["" : 21]>
        act <)" + attribute + R"(> (a) => (b) { b = LeakyRelu <alpha: float = @slope> (a) })"));
  };
  CHECK(parse_text(printed("slope")).functions.at(0).attributes == std::vector<std::string>{"slope"});
  CHECK_THROWS_WITH(printed("slope: float = 0.25"), Catch::Contains("function 'act' has attributes with defaults"));
}
