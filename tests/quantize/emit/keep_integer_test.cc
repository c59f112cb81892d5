#include "quantize/emit/keep_integer.h"

#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

struct Kept {
  std::string operators, bias;  ///< those from the product on; the shape of B
};

/// keep_integer() of a product on integers that is followed by `sum`.
Kept kept(const std::string& shape, const std::string& sum, const std::string& bias = "float[16] B") {
  Model model = test::fixture("g (float" + shape + " x, float" + shape + " u, int8[16,16] W, " + bias + R"() => (y)
    <float s = {0.1}, uint8 z = {0}, int8 i = {0}> {
      q = QuantizeLinear (x, s, z)
      d = DequantizeLinear (q, s, z)
      w = DequantizeLinear (W, s, i)
      a = MatMul (d, w)
)" + sum + "}");
  infer(model, standard_types);
  quantize::keep_integer(model);
  REQUIRE(verify(model).empty());
  Kept k;
  const std::string all = test::operators(*model.graph);
  k.operators = all.substr(all.find("MatMul"));
  for (const Value* v : model.graph->initializers())
    if (v->constant->size() == 16) k.bias = to_string(v->constant->dims());
  return k;
}

}  // namespace

TEST_CASE("the bias of an integer product has its rank") {
  CHECK(kept("[1,4,16]", "y = Add (a, B)").bias == to_string(Dims{1, 1, 16}));
  CHECK(kept("[N,M,4,16]", "y = Add (B, a)").bias == to_string(Dims{1, 1, 1, 16}));
  CHECK(kept("[N,M,4,16]", "y = Add (B, a)").operators == "MatMul Add");
}

TEST_CASE("a matrix is parted from what is added to it") {
  CHECK(kept("[4,16]", "y = Add (a, B)").operators == "MatMul LeakyRelu Add");
  CHECK(kept("[4,16]", "y = Add (u, a)").operators == "MatMul LeakyRelu Add");
}

TEST_CASE("other sums stay as they are") {
  CHECK(kept("[1,4,16]", "y = Add (a, B) e = Exp (a)").bias == to_string(Dims{16}));
  CHECK(kept("[1,4,16]", "e = Exp (a) y = Add (e, B)").bias == to_string(Dims{16}));
  CHECK(kept("[1,4,16]", "y = Add (a, B)", "float[1,16] B").bias == to_string(Dims{1, 16}));
  CHECK(kept("[1,4,16]", "y = Add (a, u)").operators == "MatMul Add");
  CHECK(kept("[4,16]", "e = Exp (a) y = Add (e, B)").operators == "MatMul Exp Add");
}
