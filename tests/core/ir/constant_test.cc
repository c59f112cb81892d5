#include "core/ir/constant.h"

#include "tests/support/catch.h"

using namespace mlopt;

namespace {

std::optional<Tensor> value_of(const std::string& attr, AttrValue value) {
  Graph g;
  return constant_value(*g.add_op("Constant", {}, {{attr, std::move(value), {}}}));
}

}  // namespace

TEST_CASE("a Constant node gives its value in any of its forms") {
  CHECK(value_of("value", Tensor::ints({1, 2}))->dims() == Dims{2});
  CHECK(value_of("value_int", int64_t{7})->span<int64_t>()[0] == 7);
  CHECK(value_of("value_int", int64_t{7})->rank() == 0);
  CHECK(value_of("value_float", 0.5f)->span<float>()[0] == 0.5f);
  CHECK(value_of("value_ints", std::vector<int64_t>{3, 4})->span<int64_t>()[1] == 4);
  CHECK(value_of("value_floats", std::vector<float>{})->dims() == Dims{0});
  CHECK(value_of("value_string", std::string("s"))->strings()[0] == "s");
  CHECK(value_of("value_strings", std::vector<std::string>{"a", "b"})->dims() == Dims{2});
}

TEST_CASE("Identities are gone through, to what they are of") {
  Graph g;
  Value* x = g.add_input("x", Type::tensor(DType::kF32));
  Value* y = g.add_op("Identity", {g.add_op("Identity", {x})->output(0)})->output(0);
  CHECK(before_identities(y) == x);
  CHECK(before_identities(x) == x);
  Value* z = g.add_op("Neg", {y})->output(0);
  CHECK(before_identities(z) == z);
  Value* nothing = g.add_op("Identity", {nullptr})->output(0);
  CHECK(before_identities(nothing) == nothing);
}

TEST_CASE("what is not a plain constant is not taken for one") {
  CHECK_FALSE(value_of("value_int", 0.5f));                      // the wrong kind
  CHECK_FALSE(value_of("sparse_value", OpaqueAttr{11, "..."}));  // not interpreted
  CHECK_FALSE(value_of("value", RefAttr{"given", 4}));           // the caller of the function gives it
  Graph g;
  CHECK_FALSE(constant_value(*g.add_op("Identity", {}, {{"value_int", int64_t{1}, {}}})));
  CHECK_FALSE(constant_value(*g.add_op("Constant", {})));
}

TEST_CASE("the constant is noted with its type") {
  Graph g;
  Node* node = g.add_op("Constant", {}, {{"value_ints", std::vector<int64_t>{3, 4}, {}}});
  note_constant(*node);
  REQUIRE(node->output(0)->constant);
  CHECK(to_string(node->output(0)->type) == "int64[2]");
  CHECK_FALSE(node->output(0)->is_initializer());
}

TEST_CASE("shape arithmetic is known where every number is") {
  Value v;
  v.type = Type::tensor(DType::kI64, Dims{2});
  CHECK_FALSE(known_value(v));
  v.symbolic = std::vector<Dim>{Dim(3), Dim::symbol("N")};
  CHECK_FALSE(known_value(v));
  v.symbolic = std::vector<Dim>{Dim(3), Dim(4)};
  REQUIRE(known_value(v));
  CHECK(known_value(v)->span<int64_t>()[1] == 4);
  v.type.dtype = DType::kI32;
  CHECK(known_value(v)->span<int32_t>()[0] == 3);
  v.type.dtype = DType::kF32;
  CHECK_FALSE(known_value(v));
}

TEST_CASE("random operators are told from functions of their inputs") {
  Graph g;
  CHECK(is_random(*g.add_op("Bernoulli", {})));
  CHECK(is_random(*g.add_op("RandomNormalLike", {})));
  CHECK_FALSE(is_random(*g.add_op("Relu", {})));
}
