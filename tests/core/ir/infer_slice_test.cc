#include "tests/support/catch.h"
#include "tests/support/infer.h"

using namespace mlopt::test;

namespace {

/// The type of x[start:end:step] along axis 1, all given as constants.
std::string sliced(const std::string& x, const std::string& start, const std::string& end, const std::string& step) {
  return types_in(
      "float[" + x + "] x", "y = Slice(x, s, e, a, t)", "y", 21, nullptr,
      "int64[1] s = {" + start + "}, int64[1] e = {" + end + "}, int64[1] a = {1}, int64[1] t = {" + step + "}");
}

}  // namespace

TEST_CASE("Slice counts what it takes") {
  CHECK(sliced("N,7", "1", "6", "2") == "float32[N,3]");
  CHECK(sliced("N,7", "-3", "100", "1") == "float32[N,3]");
  CHECK(sliced("N,7", "5", "2", "1") == "float32[N,0]");
  CHECK(sliced("N,7", "-100", "-6", "3") == "float32[N,1]");
  CHECK(sliced("N,7", "-1", "-100", "-1") == "float32[N,7]");
  CHECK(sliced("N,7", "100", "-8", "-3") == "float32[N,3]");
  CHECK(sliced("N,7", "4", "-7", "-2") == "float32[N,2]");
  CHECK(sliced("N,7", "0", "3", "-1") == "float32[N,0]");
  CHECK(sliced("N,7", "6", "-9223372036854775807", "-9223372036854775807") == "float32[N,1]");
  CHECK(sliced("N,7", "-8", "-9223372036854775808", "-1") == "float32[N,1]");
  CHECK(sliced("N,0", "-1", "-9", "-1") == "float32[N,0]");
}

TEST_CASE("Slice keeps a free dimension that is taken whole, and knows nothing of a part of it") {
  CHECK(sliced("2,N", "0", "9223372036854775807", "1") == "float32[2,N]");
  CHECK(sliced("2,N", "-1", "-9223372036854775807", "-1") == "float32[2,N]");
  CHECK(sliced("2,N", "0", "9223372036854775807", "2") == "float32[2,?]");
  CHECK(sliced("2,N", "1", "9223372036854775807", "1") == "float32[2,?]");
  CHECK(sliced("2,N", "0", "5", "1") == "float32[2,?]");
  CHECK(sliced("2,N", "0", "-1", "1") == "float32[2,?]");
}

TEST_CASE("Slice knows the rest of what is longer by a number") {
  const auto rest = [](const char* start, const char* end) {
    return types_in("float[1] f, float[N] x",
                    "n = Shape(x) m = Add(n, o) c = Concat<axis = 0>(f, x) y = Slice(c, s, " + std::string(end) + ")",
                    "y", 21, nullptr,
                    "int64[1] s = {" + std::string(start) +
                        "}, int64[1] o = {1}, int64[1] w = {-1}, int64[1] e = "
                        "{9223372036854775807}");
  };
  CHECK(rest("1", "e") == "float32[N]");
  CHECK(rest("1", "m") == "float32[N]");
  CHECK(rest("0", "n") == "float32[N]");
  CHECK(rest("0", "m") == "float32[N+1]");
  CHECK(rest("2", "e") == "float32[?]");
  CHECK(rest("1", "n") == "float32[?]");
  CHECK(rest("-1", "e") == "float32[?]");
  CHECK(rest("0", "w") == "float32[?]");
}

TEST_CASE("Slice follows ends that are sizes, and the attributes of the first opsets") {
  CHECK(types_in("float[N,M] x", "e = Shape<start = 1>(x) y = Slice(x, s, e, a)", "y", 21, nullptr,
                 "int64[1] s = {0}, int64[1] a = {1}") == "float32[N,M]");
  CHECK(types_in("float[N,M] x", "e = Shape<start = 1>(x) y = Slice(x, s, e, s)", "y", 21, nullptr,
                 "int64[1] s = {0}") == "float32[?,M]");
  CHECK(types_in("float[N,6] x", "y = Slice<starts = [1], ends = [-1], axes = [-1]>(x)", "y", 9) == "float32[N,4]");
  CHECK(types_in("float[5,6] x", "y = Slice<starts = [1, 2], ends = [9, 3]>(x)", "y", 9) == "float32[4,1]");
  CHECK(types_in("float[N,6] x, int64[1] e", "y = Slice(x, s, e)", "y", 21, nullptr, "int64[1] s = {0}") ==
        "float32[?,?]");
}
