#include "tests/support/catch.h"
#include "tests/support/infer.h"

using namespace mlopt::test;

TEST_CASE("Reshape copies, takes what is left, and divides symbols") {
  const auto reshaped = [](const char* x, const char* shape) {
    return types_in(std::string("float[") + x + "] x", "y = Reshape(x, s)", "y", 21, nullptr,
                    std::string("int64[") + "3] s = " + shape);
  };
  CHECK(reshaped("N,4,6", "{0, -1, 2}") == "float32[N,12,2]");
  CHECK(reshaped("N,4,6", "{-1, 3, 2}") == "float32[4*N,3,2]");
  CHECK(reshaped("N,M,6", "{2, -1, 1}") == "float32[2,3*M*N,1]");
  CHECK(reshaped("N,M,5", "{2, -1, 1}") == "float32[2,?,1]");
  CHECK(types_in("float[N,4] x, int64[3] s", "y = Reshape(x, s)", "y") == "float32[?,?,?]");
  CHECK(types_in("float[2,6] x", "y = Reshape<shape = [3, -1]>(x)", "y", 1) == "float32[3,4]");
}

TEST_CASE("Reshape by a computed shape follows the symbols") {
  CHECK(types_in("float[B,S,96] x", "s = Shape(x) b = Gather(s, i) t = Concat<axis = 0>(b, r) y = Reshape(x, t)", "y",
                 21, nullptr, "int64[1] i = {0}, int64[3] r = {-1, 12, 8}") == "float32[B,S,12,8]");
}

TEST_CASE("axes move, join and vanish") {
  CHECK(types_in("float[N,2,3] x", "y = Transpose<perm = [2, 0, 1]>(x)", "y") == "float32[3,N,2]");
  CHECK(types_in("float[N,2,3] x", "y = Transpose(x)", "y") == "float32[3,2,N]");
  CHECK(types_in("float[N,2] a, float[N,M] b", "y = Concat<axis = -1>(a, b)", "y") == "float32[N,M+2]");
  CHECK(types_in("float[A,2] a, float[3,2] b", "y = Concat<axis = 1>(a, b)", "y") == "float32[3,4]");
  CHECK(types_in("float[N,2,3] x", "y = Flatten<axis = 2>(x)", "y") == "float32[2*N,3]");
  CHECK(types_in("float[N,2] x", "y = Unsqueeze<axes = [0, 3]>(x)", "y", 11) == "float32[1,N,2,1]");
  CHECK(types_in("float[1,N,1] x", "y = Squeeze(x, a)", "y", 21, nullptr, "int64[1] a = {-1}") == "float32[1,N]");
  CHECK(types_in("float[1,2,1] x", "y = Squeeze(x)", "y") == "float32[2]");
  CHECK(types_in("float[1,N] x", "y = Squeeze(x)", "y") == "float32[...]");  // N may be 1
  CHECK(types_in("float[V,8] x, int64[B,S] i", "y = Gather(x, i)", "y") == "float32[B,S,8]");
  CHECK(types_in("float[V,8] x, int64 i", "y = Gather<axis = 1>(x, i)", "y") == "float32[V]");
}

TEST_CASE("Range counts what shape arithmetic gives") {
  const std::string limit = "d = Shape<start = 0, end = 1>(x) n = Squeeze(d) ";
  const char* numbers = "int64 zero = {0}, int64 one = {1}, int64 two = {2}, int64 down = {-2}, int64 ten = {10}";
  const auto found = [&](const char* inputs, const std::string& range) {
    return types_in(inputs, limit + "y = Range" + range, "y", 21, nullptr, numbers);
  };
  CHECK(found("float[7,4] x", "(zero, n, one)") == "int64[7]");
  CHECK(found("float[7,4] x", "(one, n, two)") == "int64[3]");
  CHECK(found("float[8,4] x", "(one, n, two)") == "int64[4]");
  CHECK(found("float[8,4] x", "(ten, n, down)") == "int64[1]");
  CHECK(found("float[7,4] x", "(ten, n, down)") == "int64[2]");
  CHECK(found("float[7,4] x", "(ten, n, one)") == "int64[0]");
  CHECK(found("float[N,4] x", "(zero, n, one)") == "int64[N]");
  CHECK(found("float[N,4] x", "(one, n, one)") == "?");
  const auto more = [&](const std::string& nodes) {
    return types_in("float[N,4] x", limit + nodes, "y", 21, nullptr,
                    std::string(numbers) + ", float fzero = {0}, float fone = {1}, float half = {0.5}");
  };
  // Nothing where N is less than 10.
  CHECK(more("m = Sub(n, ten) y = Range(zero, m, one)") == "?");
  // From 1 - N to 1, as positions of a bias, and in floats, as Keras counts.
  CHECK(more("m = Sub(one, n) y = Range(m, one, one)") == "int64[N]");
  CHECK(more("f = Cast<to = 1>(n) y = Range(fzero, f, fone)") == "float32[N]");
  CHECK(more("f = Cast<to = 1>(n) y = Range(half, f, fone)") == "?");
  CHECK(types_in("", "y = Range(zero, least, back)", "y", 21, nullptr,
                 "int64 zero = {0}, int64 least = {-9223372036854775808}, int64 back = {-1}") == "?");
  CHECK(more("f = Cast<to = 10>(n) z = Cast<to = 10>(zero) o = Cast<to = 10>(one) y = Range(z, f, o)") == "?");
}

TEST_CASE("shapes given as values") {
  CHECK(types_in("float[N,1] x", "y = Expand(x, s)", "y", 21, nullptr, "int64[3] s = {2, 1, 4}") == "float32[2,N,4]");
  CHECK(types_in("float[N,1] x, int64[3] s", "y = Expand(x, s)", "y") == "float32[?,?,?]");
  CHECK(types_in("float[N,3] x", "s = Shape(x) y = ConstantOfShape(s)", "y") == "float32[N,3]");
  CHECK(types_in("int64[2] s", "y = ConstantOfShape<value = int64[1] {1}>(s)", "y") == "int64[?,?]");
}
