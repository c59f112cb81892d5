#include "tests/support/catch.h"
#include "tests/support/infer.h"

using namespace mlopt::test;

TEST_CASE("shapes become values") {
  CHECK(elements_in("float[N,3,8] x", "y = Shape(x)", "y") == "[N,3,8]");
  CHECK(elements_in("float[N,3,8] x", "y = Shape<start = -2>(x)", "y") == "[3,8]");
  CHECK(elements_in("float[N,3,8] x", "y = Shape<start = 1, end = 1>(x)", "y") == "[]");
  CHECK(types_in("float[N,3,8] x", "y = Shape<end = -1>(x)", "y") == "int64[2]");
  CHECK(elements_in("float[N,3,8] x", "y = Size(x)", "y") == "[24*N]");
  CHECK(elements_in("float[N,?] x", "y = Shape(x)", "y") == "[N,?]");
}

TEST_CASE("values are picked, joined and cut") {
  const std::string constants =
      "int64[2] i = {-1, 0}, int64[1] one = {1}, int64[1] most = {9223372036854775807}, "
      "int64[1] last = {-1}, int64[1] least = {-9223372036854775808}, int64[1] zero = {0}, int64[1] two = {2}";
  const auto of = [&](const std::string& nodes) {
    return elements_in("float[N,3,8] x", "s = Shape(x) " + nodes, "y", constants);
  };
  CHECK(of("y = Gather(s, i)") == "[8,N]");
  CHECK(of("y = Concat<axis = 0>(s, one)") == "[N,3,8,1]");
  CHECK(of("y = Slice(s, one, most)") == "[3,8]");
  CHECK(of("a = Add(zero, one) y = Slice(s, a, most)") == "[3,8]");
  CHECK(of("a = Gather(s, zero) y = Slice(s, a, most)") == "-");
  CHECK(of("y = Slice(s, last, least, zero, last)") == "[8,3,N]");
  CHECK(of("y = Slice(s, least, most, zero, two)") == "[N,8]");
  CHECK(of("y = Slice(s, least, least, zero, last)") == "[N]");
  CHECK(of("a = Gather(s, zero) b = Squeeze(a) c = Cast<to = 6>(b) y = Unsqueeze(c, zero)") == "[N]");
}

TEST_CASE("arithmetic of nothing gives nothing") {
  const std::string one = "int64[1] one = {1}";
  for (const char* pair : {"e, one", "one, e", "e, e"})
    CHECK(elements_in("float[N,3] x", std::string("e = Shape<start = 1, end = 1>(x) y = Add(") + pair + ")", "y",
                      one) == "[]");
}

TEST_CASE("ranges between known numbers are known") {
  const std::string constants =
      "int64 zero = {0}, int64 one = {1}, int64 two = {2}, int64 five = {5}, int64 back = {-2}";
  const auto of = [&](const std::string& nodes) {
    return elements_in("float[N,3,8] x", "s = Shape(x) r = Size(s) " + nodes, "y", constants);
  };
  CHECK(of("a = Sub(r, one) y = Range(a, r, one)") == "[2]");
  CHECK(of("y = Range(zero, five, two)") == "[0,2,4]");
  CHECK(of("y = Range(five, zero, back)") == "[5,3,1]");
  CHECK(of("y = Range(five, zero, one)") == "[]");
  CHECK(of("y = Range(zero, five, zero)") == "-");
  CHECK(of("n = Gather(s, zero) y = Range(zero, n, one)") == "-");
  CHECK(elements_in("", "y = Range(zero, many, one)", "y", constants + ", int64 many = {65}") == "-");
}

TEST_CASE("values are computed with") {
  const std::string constants =
      "int64[1] two = {2}, int64[1] minus = {-7}, int64[1] zero = {0}, "
      "int64[1] least = {-9223372036854775808}, int64[1] none = {-1}";
  const auto of = [&](const std::string& nodes) {
    return elements_in("float[N] x", "s = Shape(x) " + nodes, "y", constants);
  };
  CHECK(of("y = Add(s, two)") == "[N+2]");
  CHECK(of("y = Max(s, s)") == "[N]");
  CHECK(of("y = Max(s, two)") == "[?]");
  CHECK(of("a = Mod(two, two) y = Add(s, a)") == "[N]");
  CHECK(of("y = Mod(s, two)") == "[?]");
  CHECK(of("y = Mod(minus, two)") == "[?]");  // as the divisor's or the dividend's sign
  CHECK(of("d = Mul(s, two) y = Div(d, two)") == "[N]");
  CHECK(of("y = Div(s, two)") == "[(N)//2]");
  CHECK(of("y = Div(minus, two)") == "[-3]");  // toward zero, as integers are divided
  CHECK(of("y = Div(two, zero)") == "[?]");
  CHECK(of("y = Div(least, none)") == "[?]");  // does not fit
  CHECK(of("y = Sub(least, two)") == "[?]");
  CHECK(of("n = Sub(two, s) y = Div(n, two)") == "[?]");          // may be negative: floor is not truncation
  CHECK(of("e = Equal(s, none) y = Where(e, two, s)") == "[N]");  // a size is never -1
  CHECK(of("e = Equal(s, two) y = Where(e, two, s)") == "[?]");
  CHECK(of("y = Max(minus, two)") == "[2]");
  CHECK(of("y = Less(minus, two)") == "[1]");
  CHECK(of("y = GreaterOrEqual(minus, two)") == "[0]");
  CHECK(of("y = LessOrEqual(two, two)") == "[1]");
  CHECK(of("y = Greater(s, two)") == "[?]");
  CHECK(of("a = Less(minus, two) b = Equal(minus, two) y = And(a, b)") == "[0]");
  CHECK(of("a = Less(minus, two) b = Equal(minus, two) c = Or(a, b) y = Not(c)") == "[0]");
  CHECK(of("e = Equal(s, two) y = Not(e)") == "[?]");
  CHECK(of("y = Max(s, minus)") == "[N]");  // a size is never negative
  CHECK(of("y = Max(zero, s)") == "[N]");
  CHECK(of("n = Sub(s, two) y = Max(n, zero)") == "[?]");
  CHECK(of("a = Equal(s, two) b = Less(two, minus) y = And(a, b)") == "[0]");
  CHECK(of("a = Equal(s, two) b = Less(minus, two) y = Or(b, a)") == "[1]");
  CHECK(of("a = Equal(s, two) b = Less(minus, two) y = And(a, b)") == "[?]");
}

TEST_CASE("only rows are picked from, cut, reversed and computed with") {
  const std::string constants =
      "int64[1] zero = {0}, int64[1] one = {1}, int64[1] last = {-1}, int64[1] least = {-9223372036854775808}, "
      "int64[2] grid = {2, 2}, int64[4] pads = {0, 64, 7, 9}, int64[2] column = {2, 1}, int64[2] row = {1, 2}";
  const auto of = [&](const std::string& nodes) { return elements_in("float[N] x", nodes, "y", constants); };
  CHECK(of("y = Reshape(pads, grid)") == "[0,64,7,9]");
  CHECK(of("a = Reshape(pads, grid) y = Slice(a, last, least, zero, last)") == "-");
  CHECK(of("a = Reshape(pads, grid) y = Slice(a, zero, one)") == "-");
  CHECK(of("a = Reshape(pads, grid) y = Add(a, a)") == "-");
  CHECK(of("a = Reshape(row, column) b = Reshape(row, row) y = Add(a, b)") == "-");
  CHECK(of("a = Reshape(pads, grid) e = Equal(a, a) y = Where(e, a, a)") == "-");
  CHECK(of("a = Reshape(pads, grid) y = ReduceProd<axes = [0]>(a)") == "-");
}

TEST_CASE("numbers that their type does not hold are not followed") {
  const std::string constants = "int64[1] five = {5}, int64[1] one = {1}, int64[1] large = {4294967297}";
  const auto of = [&](const std::string& nodes) { return elements_in("float[N] x", nodes, "y", constants); };
  CHECK(of("y = Cast<to = 9>(one)") == "[1]");
  CHECK(of("y = Cast<to = 9>(five)") == "[?]");  // true, whose number is 1
  CHECK(of("y = Cast<to = 6>(five)") == "[5]");
  CHECK(of("y = Cast<to = 6>(large)") == "[?]");
  CHECK(of("s = Shape(x) y = Cast<to = 6>(s)") == "[N]");
}

TEST_CASE("constants made by shape, and products of elements") {
  CHECK(elements_in("float[N,M] x", "s = Shape(x) y = ReduceProd(s)", "y") == "[M*N]");
  CHECK(elements_in("float[2,3] x", "s = Shape(x) r = Shape(s) y = ConstantOfShape<value = int64[1] {-1}>(r)", "y") ==
        "[-1,-1]");
  CHECK(elements_in("float[2,3] x", "s = Shape(x) r = Shape(s) y = ConstantOfShape<value = int64[0] {}>(r)", "y") ==
        "-");
}

TEST_CASE("sizes may go through floats") {
  const std::string constants = "float[1] low = {-1000000000}, float[1] half = {0.5}, int64[1] two = {2}";
  const auto of = [&](const std::string& nodes) {
    return elements_in("float[N] x", "s = Shape(x) f = Cast<to = 1>(s) " + nodes, "y", constants);
  };
  CHECK(of("y = Cast<to = 7>(f)") == "[N]");
  CHECK(of("m = Max(f, low) y = Cast<to = 6>(m)") == "[N]");
  CHECK(of("m = Max(f, half) y = Cast<to = 6>(m)") == "-");
  CHECK(of("m = Mul(f, half) y = Cast<to = 6>(m)") == "-");
  CHECK(of("h = Cast<to = 10>(s) y = Cast<to = 7>(h)") == "-");  // of 16 bits, which hold few
}

TEST_CASE("large and floating values are not followed") {
  CHECK(elements_in("float[N] x", "y = Identity(x)", "y") == "-");
  CHECK(elements_in("float[2] x", "s = Shape(x) f = Cast<to = 1>(s) y = Identity(f)", "y") == "-");
  CHECK(elements_in("int64[100] x", "s = Shape(x) y = ConstantOfShape<value = int64[1] {1}>(s)", "y") == "-");
}
