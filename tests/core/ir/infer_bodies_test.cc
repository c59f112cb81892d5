#include "core/ir/infer_bodies.h"

#include "core/onnx/io.h"
#include "tests/support/catch.h"
#include "tests/support/infer.h"

using namespace mlopt;
using test::types_in;

TEST_CASE("If gives what its branches agree on") {
  const auto of = [](const char* then_op, const char* else_op) {
    return types_in("bool c, float[N,4] x, float[N,3] z",
                    std::string("y = If(c) <then_branch = a () => (t) { t = ") + then_op +
                        " }, else_branch = b () => (e) { e = " + else_op + " }>",
                    "y");
  };
  CHECK(of("Relu(x)", "Neg(x)") == "float32[N,4]");
  CHECK(of("Relu(x)", "Neg(z)") == "float32[N,?]");
  CHECK(of("Relu(x)", "Flatten<axis = 0>(x)") == "float32[?,?]");
  CHECK(of("Relu(x)", "Squeeze(x)") == "float32[...]");
  CHECK(of("Relu(x)", "Cast<to = 7>(x)") == "?[N,4]");
}

TEST_CASE("a loop's body learns the types that are carried, not their shapes") {
  const std::string nodes = R"(y, all = Loop(n, c, x) <body = b (i, go, v) => (go_on, w, piece) {
      go_on = Identity(go)  w = Concat<axis = 0>(v, v)  piece = Cast<to = 1>(i) }>)";
  CHECK(types_in("int64 n, bool c, double[2] x", nodes, "y") == "float64[...]");
  CHECK(types_in("int64 n, bool c, double[2] x", nodes, "all") == "float32[...]");
  const std::string shaped = R"(y, all = Loop(n, c, x) <body = b (int64 i, bool go, float[N,2] v) => (go_on, w, piece) {
      go_on = Identity(go)  w = Relu(v)  piece = ReduceSum<keepdims = 0>(v, a) }>)";
  CHECK(types_in("int64 n, bool c, float[N,2] x", shaped, "y", 21, nullptr, "int64[1] a = {0}") == "float32[N,2]");
  CHECK(types_in("int64 n, bool c, float[N,2] x", shaped, "all", 21, nullptr, "int64[1] a = {0}") == "float32[?,2]");
}

TEST_CASE("a scan's body sees its inputs without the axis, its outputs gain it") {
  const std::string nodes = R"(s, all = Scan(z, x) <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [-1],
      body = b (state, piece) => (next, out) { next = Add(state, piece)  out = Relu(piece) }>)";
  CHECK(types_in("float[B] z, float[B,T] x", nodes, "s") == "float32[B]");
  CHECK(types_in("float[B] z, float[B,T] x", nodes, "all") == "float32[B,T]");
}

TEST_CASE("what two sources know of a type is put together") {
  using infer_rules::merged;
  const Dim N = Dim::symbol("N");
  const Type old = Type::tensor(DType::kF32, SymDims{N, 4}), fresh = Type::tensor(DType::kUndefined, SymDims{3, Dim()});
  CHECK(to_string(merged(old, fresh)) == "float32[3,4]");
  CHECK(to_string(merged(old, Type())) == "float32[N,4]");
  CHECK(to_string(merged(Type(), old)) == "float32[N,4]");
  CHECK(to_string(merged(Type::tensor(DType::kF32, SymDims{5}), Type::tensor(DType::kF32, SymDims{N}))) ==
        "float32[5]");
}
