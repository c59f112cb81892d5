#include "quantize/emit/keep_bytes.h"

#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// `lines` with x, the step s and the zero point z of `type`.
Model rounding(const std::string& lines, const std::string& type = "uint4") {
  Model model = test::fixture("g (float[1,2,4,4] x) => (y) <float s = {0.07}, " + type + " z = {1}> {" + lines + "}");
  infer(model, standard_types);
  return model;
}

/// What keep_bytes() makes of it; the values are the same.
std::string kept(const std::string& lines, const std::string& type = "uint4") {
  const Model source = rounding(lines, type);
  Model model = rounding(lines, type);
  quantize::keep_bytes(model);
  REQUIRE(verify(model).empty());
  for (const Value* v : model.graph->initializers()) CHECK_FALSE(v->uses.empty());
  infer(model, standard_types);
  test::require_same_model(source, model, 1e-6);
  std::string types;
  for (const Node* node : model.graph->nodes())
    if (node->is("QuantizeLinear")) types += " " + std::string(name(node->output(0)->type.dtype));
  return test::operators(*model.graph) + ":" + types;
}

}  // namespace

TEST_CASE("activations of less than a byte are held in bytes") {
  for (const auto& [type, bytes] :
       {std::pair("uint4", "uint8"), {"int4", "int8"}, {"uint2", "uint8"}, {"int2", "int8"}}) {
    INFO(type);
    CHECK(kept("q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) y = Relu (d)", type) ==
          "Clip QuantizeLinear DequantizeLinear Relu: " + std::string(bytes));
  }
  CHECK(kept("q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) e = DequantizeLinear (q, s, z) y = Add (d, "
             "e)") == "Clip QuantizeLinear DequantizeLinear DequantizeLinear Add: uint8");
}

TEST_CASE("codes that have only moved since are not cut off again") {
  const std::string first = "q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) ";
  CHECK(kept(first + "f = Flatten (d) r = QuantizeLinear (f, s, z) y = DequantizeLinear (r, s, z)") ==
        "Clip QuantizeLinear DequantizeLinear Flatten QuantizeLinear DequantizeLinear: uint8 uint8");
  CHECK(kept(first + "f = Add (d, d) r = QuantizeLinear (f, s, z) y = DequantizeLinear (r, s, z)") ==
        "Clip QuantizeLinear DequantizeLinear Add Clip QuantizeLinear DequantizeLinear: uint8 uint8");
}

TEST_CASE("bytes stay bytes, and numbers that something else reads stay as they are") {
  CHECK(kept("q = QuantizeLinear (x, s, z) y = DequantizeLinear (q, s, z)", "uint8") ==
        "QuantizeLinear DequantizeLinear: uint8");
  CHECK(kept("q = QuantizeLinear (x, s, z) r = Flatten (q) y = DequantizeLinear (r, s, z)") ==
        "QuantizeLinear Flatten DequantizeLinear: uint4");
}
