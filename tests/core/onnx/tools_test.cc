#include "core/onnx/tools.h"

#include "core/ir/infer.h"
#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using mlopt::test::contains;
using mlopt::test::error_of;

TEST_CASE("the standard's operators and versions are known") {
  CHECK(known_operator("", "Conv", 21));
  CHECK(known_operator("ai.onnx.ml", "TreeEnsemble", 5));
  CHECK_FALSE(known_operator("", "Gelu", 19));
  CHECK_FALSE(known_operator("com.acme", "Conv", 1));
  CHECK_FALSE(known_operator("", "Conv", 0));
  CHECK(ir_version_for(13) == 7);
  CHECK(ir_version_for(21) == 10);
  CHECK(opset_of_ir_version(8) == 18);
  CHECK(ir_version_for(newest_opset()) <= newest_ir_version());
}

TEST_CASE("the checker names what is wrong") {
  const auto findings = [](const std::string& body) {
    return check_with_onnx(parse_text(R"(<ir_version: 10, opset_import: ["" : 21]> main )" + body)).errors;
  };
  CHECK(findings("(float[2,3] x) => (float[3,2] y) { y = Transpose (x) }").empty());
  const auto unknown = findings("(float[2,3] x) => (float[3,2] y) { y = Transposed (x) }");
  REQUIRE_FALSE(unknown.empty());
  CHECK(contains(unknown[0], "Transposed"));
  const auto shapes = findings("(float[2,3] x, float[4] z) => (float[2,3] y) { y = Add (x, z) }");
  REQUIRE_FALSE(shapes.empty());
  CHECK(contains(shapes[0], "Add"));
  const auto order = findings("(float[2] x) => (float[2] y) { y = Relu (h)  h = Neg (x) }");
  REQUIRE_FALSE(order.empty());
  CHECK(contains(order[0], "not in order"));
}

TEST_CASE("what runtimes load all the same is a warning") {
  const auto check = [](const std::string& text) { return check_with_onnx(parse_text(text)); };
  const Findings declared = check(R"(<ir_version: 10, opset_import: ["" : 21]>
      main (float[2,3] x) => (float[2,2] y, float[6] z) { y = Transpose (x)  z = Flatten (x) })");
  CHECK(declared.errors.empty());
  REQUIRE(declared.warnings.size() == 2);
  CHECK(contains(declared.warnings[0], "Transpose"));
  CHECK(contains(declared.warnings[1], "Flatten"));
  // The standard's own body of this operator does not pass its own inference.
  const Findings standard = check(R"(<ir_version: 7, opset_import: ["" : 13]>
      main (float[2,3,4,5] x) => (float[2,3,4,5] y) { y = MeanVarianceNormalization (x) })");
  CHECK(standard.errors.empty());
}

TEST_CASE("the standard gives types, also through symbolic shapes") {
  Model model = parse_text(R"(
    <ir_version: 10, opset_import: ["" : 21]>
    main (float[N,3,8,8] x) => (y, int64[N] z) <int64[4] target = {0, 1, -1, 16}, int64[1] k = {5}> {
      a = LpPool <kernel_shape = [2, 2], strides = [2, 2]> (x)
      y = Reshape (a, target)
      flat = ReduceMean <keepdims = 0> (x, axes)
      axes = Constant <value_ints = [1, 2, 3]> ()
      z = Cast <to = 7> (flat)
    })");
  infer(model, standard_types);
  CHECK(to_string(model.graph->find("a")->type) == "float32[N,3,4,4]");
  CHECK(to_string(model.graph->find("flat")->type) == "float32[N]");
}

TEST_CASE("nodes that the standard's inference cannot stand have no types") {
  for (const char* equation : {"ab,b.c->ac", "a\nb,bc->ac", "...a...,ab"}) {
    Model model = parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
        main (float[2,3] x, float[3,4] w) => (y) { y = Einsum <equation = "ab,bc->ac"> (x, w) })");
    model.graph->nodes()[0]->set_attr("equation", std::string(equation));
    CHECK(standard_types(NodeView(*model.graph->nodes()[0], 21)).empty());
  }
  const Model lying = parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
      main (float[2,3] x) => (y) { y = Flatten <axis = "one"> (x) })");
  CHECK(standard_types(NodeView(*lying.graph->nodes()[0], 21)).empty());
}

TEST_CASE("operators that the standard defines by others have a body") {
  const Model model = parse_text(R"(
    <ir_version: 10, opset_import: ["" : 21]>
    main (float[2,8] x, float[8] s) => (float[2,8] y) { a = LayerNormalization <epsilon = 0.5> (x, s)  y = Relu (a) })");
  const auto nodes = model.graph->nodes();
  const auto body = standard_function(NodeView(*nodes[0], 21));
  REQUIRE(body);
  CHECK(body->body->node_count() > 5);
  CHECK(body->body->inputs().size() == 3);
  CHECK_FALSE(standard_function(NodeView(*nodes[1], 0)));
  Model other = clone(model);
  other.functions.push_back(*body);
  inline_functions(other);
  CHECK(verify(other).empty());
  CHECK(check_with_onnx(other).errors.empty());
}

TEST_CASE("opsets are converted up and down, the notes of nodes are kept") {
  const Model model = parse_text(R"(
    <ir_version: 6, opset_import: ["" : 11, "com.acme" : 2], metadata_props: ["k": "v"]>
    main (float[2,3] x) => (float[2] y) { [total] h = ReduceSum <axes = [1], keepdims = 0> (x)  y = com.acme.Thing (h) })");
  const Model newer = convert_opset(model, 13);
  CHECK(newer.opset() == 13);
  CHECK(newer.ir_version == 7);
  CHECK(newer.opset("com.acme") == 2);
  CHECK(newer.metadata == model.metadata);
  CHECK(verify(newer).empty());
  const Node* sum = newer.graph->find("h")->producer;
  CHECK(sum->name == "total");
  CHECK(sum->inputs().size() == 2);
  CHECK_FALSE(sum->attr("axes"));
  CHECK(convert_opset(newer, 13).opset() == 13);
  CHECK_FALSE(error_of([&] { convert_opset(model, 4000); }).empty());
}

TEST_CASE("ONNX Runtime's own operators of the standard domain pass through conversions") {
  const Model model = test::fixture(R"(g (float[2,4] x) => (float[2,4] y) <float[4] s = {1, 2, 3, 4}> {
    n = SimplifiedLayerNormalization <axis = -1> (x, s)
    y = Relu (n)
  })",
                                    17);
  for (const int64_t opset : {13, 21}) {
    const Model other = convert_opset(model, opset);
    CHECK(other.opset() == opset);
    CHECK(other.opsets.size() == model.opsets.size());
    const Node* norm = other.graph->nodes()[0];
    CHECK(norm->op == "SimplifiedLayerNormalization");
    CHECK(norm->domain.empty());
    CHECK(std::get<int64_t>(norm->attr("axis")->value) == -1);
  }
}

TEST_CASE("LayerNormalization of an opset that lacks it passes through, and is the standard's in later ones") {
  Model model =
      test::fixture(R"(g (float[2,4] x) => (float[2,4] y) <float[4] s = {1, 2, 3, 4}, float[4] b = {0, 1, 0, 1}> {
    n = LayerNormalization <axis = -1> (x, s, b)
    y = Relu (n)
  })",
                    14);
  model.set_opset("com.microsoft", 1);
  for (const int64_t opset : {13, 16, 17, 21}) {
    const Model other = convert_opset(model, opset);
    CHECK(other.opset() == opset);
    CHECK(test::operators(*other.graph) == "LayerNormalization Relu");
    CHECK(other.graph->nodes()[0]->domain.empty());
    CHECK(check_with_onnx(other).errors.empty());
    test::require_same_model(model, other, 0);
  }
}

TEST_CASE("conversions keep what operators mean") {
  const Model model = parse_text(R"(
    <ir_version: 5, opset_import: ["" : 9]>
    main (float[1,1,2,2] x) => (float[1,1,4,4] y) <float[4] s = {1, 1, 2, 2}> { y = Upsample <mode = "linear"> (x, s) })");
  const Model newer = convert_opset(model, 13);
  const Node* resize = newer.graph->find("y") ? newer.graph->find("y")->producer : newer.graph->nodes().back();
  REQUIRE(resize->op == "Resize");
  CHECK(NodeView(*resize, 13).get_string("coordinate_transformation_mode", "") == "asymmetric");
}

TEST_CASE("the nearest elements of Resize of opset 10 are those behind a position where it shrinks") {
  const auto converted = [](const std::string& scales, const std::string& dims) {
    const Model model = test::fixture("g (float[1,1,4,10] x) => (float[1,1," + dims + "] y) <float[4] s = {1, 1, " +
                                          scales + "}> { y = Resize (x, s) }",
                                      10);
    const Model newer = convert_opset(model, 13);
    test::require_same_model(model, newer, 0);
    return NodeView(*newer.graph->find("y")->producer, 13).get_string("nearest_mode", "");
  };
  CHECK(converted("0.5, 0.7", "2,7") == "ceil");
  CHECK(converted("2, 1", "8,10") == "floor");
  CHECK(contains(error_of([&] { converted("2, 0.7", "8,7"); }), "in two ways"));
}

TEST_CASE("Hardmax keeps taking all axes from the given one on, and one where its axis is the last") {
  const auto converted = [](const std::string& attrs) {
    const Model model = test::fixture("g (float[2,3,4] x) => (float[2,3,4] y) { y = Hardmax " + attrs + " (x) }", 12);
    const Model newer = convert_opset(model, 13);
    CHECK(verify(newer).empty());
    test::require_same_model(model, newer, 0);
    return test::operators(*newer.graph);
  };
  CHECK(converted("") == "Flatten Hardmax Shape Reshape");
  CHECK(converted("<axis = 0>") == "Flatten Hardmax Shape Reshape");
  CHECK(converted("<axis = 2>") == "Hardmax");
  CHECK(converted("<axis = -1>") == "Hardmax");
}

TEST_CASE("a conversion that would lose what a node says is refused") {
  const Model model = parse_text(R"(
    <ir_version: 10, opset_import: ["" : 19]>
    main (float[1,1,8,8] x) => (float[1,1,4,4] y) { y = AveragePool <kernel_shape = [3,3], dilations = [2,2]> (x) })");
  CHECK(check_with_onnx(model).errors.empty());
  const std::string why = error_of([&] { convert_opset(model, 17); });
  CHECK(contains(why,
                 "cannot convert opset 19 to 17: AveragePool giving 'y': older opsets lack its attribute 'dilations'"));
}

TEST_CASE("Scan never crosses the opset that took its batch axis away") {
  const Model model = parse_text(R"(
    <ir_version: 3, opset_import: ["" : 8]>
    main (float[1,2] s, float[1,3,2] x) => (float[1,2] t, float[1,3,2] y) {
      t, y = Scan <num_scan_inputs = 1, body = b (float[2] i, float[2] e) => (float[2] o, float[2] z)
        { o = Add (i, e)  z = Identity (o) }> ("", s, x)
    })");
  CHECK(contains(error_of([&] { convert_opset(model, 13); }), "Scan giving 't' means something else there"));
  CHECK(convert_opset(model, 8).graph->nodes()[0]->op == "Scan");
}

TEST_CASE("large weights pass through the converter untouched") {
  Model model = parse_text(R"(
    <ir_version: 6, opset_import: ["" : 11]> main (float[1,256] x) => (float[1,256] y) { h = MatMul (x, x)  y = Add (h, h) })");
  Value* w = model.graph->add_constant("w", Tensor::zeros(DType::kF32, {256, 256}));
  Value* b = model.graph->add_constant("b", Tensor::of(Dims{256}, std::vector<float>(256, 0.5f)));
  model.graph->set_input(model.graph->nodes()[0], 1, w);
  model.graph->set_input(model.graph->nodes()[1], 1, b);
  const Model newer = convert_opset(model, 21);
  REQUIRE(newer.graph->find("w"));
  CHECK(newer.graph->find("w")->constant->raw() == w->constant->raw());
  CHECK(newer.graph->find("b")->constant->span<float>()[255] == 0.5f);
}
