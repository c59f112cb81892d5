#include "core/onnx/infer.h"

#include "tests/support/catch.h"
#include "tests/support/infer.h"

using namespace mlopt;
using test::types_in;

TEST_CASE("the standard's rules see constants and symbolic values") {
  CHECK(types_in("float[N,8] x", "y = Slice(x, s, e, a)", "y", 21, standard_types,
                 "int64[1] s = {2}, int64[1] e = {-1}, int64[1] a = {1}") == "float32[N,5]");
  CHECK(types_in("float[N,8] x, float[M] z", "s = Shape(x) y = RandomUniformLike(x) t = Range(o, n, o)", "t", 21,
                 standard_types, "int64 o = {1}, int64 n = {5}") == "int64[4]");
  CHECK(types_in("float[N,8] x", "a, y = TopK<axis = 1>(x, k)", "y", 21, standard_types, "int64[1] k = {3}") ==
        "int64[N,3]");
}

TEST_CASE("the standard's rules give sums of symbols back as sums") {
  CHECK(types_in("float[9] x, int64[N,1] i, int64[M,1] j",
                 "c = Concat<axis = 0>(i, j) g = GatherND(x, c) y = Concat<axis = 0>(g, g)", "y", 21,
                 standard_types) == "float32[2*N+2*M]");
}

TEST_CASE("inputs of unknown types are no danger to the standard's inference functions") {
  CHECK(types_in("float[2] x", "u = Unheard(x) y = ai.onnx.ml.LabelEncoder<classes_strings = [\"a\"]>(u)", "y", 21,
                 standard_types) == "?[...]");
  CHECK(types_in("float[2] x", "u = Unheard(x) y = ai.onnx.ml.DictVectorizer(u)", "y", 21, standard_types) == "?[...]");
  CHECK(types_in("float[2] x", "u = Unheard(x) y = RegexFullMatch<pattern = \"a\">(u)", "y", 21, standard_types) ==
        "?");
}

TEST_CASE("axes that there are not are no danger to the standard's inference functions") {
  for (const char* axis : {"-9223372036854775808", "-4", "3", "4", "100000000000"})
    CHECK(types_in("float[2,3] x, float[3] s", std::string("y, m = LayerNormalization<axis = ") + axis + ">(x, s)", "m",
                   21, standard_types) == "?");
  for (const char* batch : {"-1", "2", "3", "100000000000"})
    CHECK(types_in("float[2,3] x, int64[2,1] i", std::string("y = GatherND<batch_dims = ") + batch + ">(x, i)", "y", 21,
                   standard_types) == "?");
  CHECK(types_in("float[2,3] x, int64[2,1] i", "y = GatherND<batch_dims = 1>(x, i)", "y", 21, standard_types) ==
        "float32[2]");
}

TEST_CASE("unknown operators and broken nodes have no types") {
  CHECK(types_in("float[2] x", "y = Unheard(x)", "y", 21, standard_types) == "?");
  CHECK(types_in("float[2] x", "y = Split(x)", "y", 21, standard_types) == "?");  // says not into how many
  CHECK(types_in("float[2,3] x", "y = Det(x)", "y", 21, standard_types) == "?");  // not square
  CHECK(types_in("float[2,2] x", "y = Det(x)", "y", 10, standard_types) == "?");  // of a later opset
  CHECK(types_in("float[2,2] x", "y = Det(x)", "y", 11, standard_types) == "float32[]");
}
