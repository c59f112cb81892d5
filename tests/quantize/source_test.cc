#include "quantize/source.h"

#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using namespace mlopt::quantize;

TEST_CASE("a model on codes is none to quantize, and constants in 16 bits are seen") {
  const Model plain = test::fixture("g (float[N,2] x, float[2] C) => (float[N,2] y) { y = Add (x, C) }");
  CHECK_NOTHROW(require_float(plain));
  CHECK_FALSE(holds_half(plain));
  Model half = clone(plain);
  Value* c = half.graph->find("C");
  c->constant = cast(*c->constant, DType::kF16);
  CHECK(holds_half(half));
  const Model codes = test::fixture(R"(g (float[N,2] x, float S, uint8 Z) => (uint8[N,2] y) {
    y = QuantizeLinear (x, S, Z)
  })");
  CHECK(test::contains(test::error_of([&] { require_float(codes); }), "quantized already"));
}

TEST_CASE("inputs with defaults become constants, but for scalars") {
  Model model =
      test::fixture("g (float[N,2] x, float[2] C, float D) => (float[N,2] y) { a = Add (x, C) y = Mul (a, D) }");
  for (const char* name : {"C", "D"}) {
    Value* old = model.graph->find(name);
    const Tensor number = *old->constant;
    Value* input = model.graph->add_input(std::string(name) + "_given", Type::tensor(DType::kF32, number.dims()));
    input->constant = number;
    model.graph->replace_uses(old, input);
  }
  CHECK(make_defaults_constant(*model.graph) == 1);
  CHECK(model.graph->inputs().size() == 2);
  CHECK(model.graph->find("C_given")->known_constant() != nullptr);
  CHECK(model.graph->find("D_given")->known_constant() == nullptr);
}
