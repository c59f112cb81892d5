#include "tests/support/catch.h"
#include "tests/support/infer.h"

using namespace mlopt::test;

// The expected types were checked with onnx.shape_inference (1.23) where it knows them.

TEST_CASE("elementwise operators broadcast, symbols included") {
  CHECK(types_in("float[N,1,8] a, float[M,1] b", "y = Add(a, b)", "y") == "float32[N,M,8]");
  CHECK(types_in("float[N] a, float[N] b", "y = Mul(a, b)", "y") == "float32[N]");
  CHECK(types_in("float[N] a, float[M] b", "y = Mul(a, b)", "y") == "float32[(M or N)]");
  CHECK(types_in("float[N] a, float[5] b", "y = Mul(a, b)", "y") == "float32[5]");
  CHECK(types_in("float[2,N] a, float b", "y = Sub(a, b)", "y") == "float32[2,N]");
  CHECK(types_in("int64[N,4] a, int64[4] b", "y = Less(a, b)", "y") == "bool[N,4]");
  CHECK(types_in("bool[N,1] c, float[4] a, float[1,4] b", "y = Where(c, a, b)", "y") == "float32[N,4]");
  CHECK(types_in("float[N,2] a", "y = Cast<to = 7>(a)", "y") == "int64[N,2]");
  CHECK(types_in("float[N,2] a", "y = Cast<to = \"INT64\">(a)", "y", 5) == "int64[N,2]");
}

TEST_CASE("products join the batch axes and drop the inner one") {
  CHECK(types_in("float[B,1,N,K] a, float[H,K,5] b", "y = MatMul(a, b)", "y") == "float32[B,H,N,5]");
  CHECK(types_in("float[K] a, float[K,5] b", "y = MatMul(a, b)", "y") == "float32[5]");
  CHECK(types_in("float[N,K] a, float[K] b", "y = MatMul(a, b)", "y") == "float32[N]");
  CHECK(types_in("float[K] a, float[K] b", "y = MatMul(a, b)", "y") == "float32[]");
  CHECK(types_in("float[K,N] a, float[8,K] b", "y = Gemm<transA = 1, transB = 1>(a, b)", "y") == "float32[N,8]");
}

TEST_CASE("reductions take axes from the attribute or the input") {
  CHECK(types_in("float[N,3,8] x", "y = ReduceMean<axes = [-1]>(x)", "y", 13) == "float32[N,3,1]");
  CHECK(types_in("float[N,3,8] x", "y = ReduceMean<keepdims = 0>(x, a)", "y", 18, nullptr, "int64[2] a = {0, 2}") ==
        "float32[3]");
  CHECK(types_in("float[N,3,8] x", "y = ReduceSum(x)", "y") == "float32[1,1,1]");
  CHECK(types_in("float[N,3,8] x", "y = ReduceSum<noop_with_empty_axes = 1>(x)", "y") == "float32[N,3,8]");
  CHECK(types_in("float[N,3,8] x, int64[1] a", "y = ReduceSum(x, a)", "y") == "float32[...]");
}

TEST_CASE("operators of the first opset, which the standard's own inference no longer has") {
  CHECK(types_in("float[N,3,8,9] x", "y = Crop<border = [1, 2, 3, 0]>(x)", "y", 9) == "float32[N,3,6,5]");
  CHECK(types_in("float[1,3,H,9] x", "y = Crop<border = [1, 2, 3, 0], scale = [4, 5]>(x)", "y", 9) ==
        "float32[1,3,4,5]");
  CHECK(types_in("float[1,3,H,9] x", "y = Crop<border = [1, 2, 3, 0]>(x)", "y", 9) == "float32[1,3,?,5]");
  CHECK(types_in("float[1,3,8,9] x", "y = ImageScaler<scale = 2.0>(x)", "y", 9) == "float32[1,3,8,9]");
}

TEST_CASE("operators of our own without inputs have no type") {
  for (const char* op : {"FakeQuantize", "SeededDropout", "Chain"})
    CHECK(types_in("", std::string("y = mlopt.") + op + "()", "y") == "?");
}

TEST_CASE("broadcasting by attribute is left alone") {
  CHECK(types_in("float[2,3,4] a, float[3] b", "y = Add<axis = 1, broadcast = 1>(a, b)", "y", 6) == "?");
}
