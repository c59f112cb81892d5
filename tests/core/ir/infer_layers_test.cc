#include "tests/support/catch.h"
#include "tests/support/infer.h"

using namespace mlopt::test;

namespace {

struct Case {
  int opset;
  const char *inputs, *node, *expected;
};

}  // namespace

TEST_CASE("layers with several outputs have the types that ONNX's own inference gives") {
  const char* normalized = "float[2,3,4] x, float[3] a, float[3] b, float[3] m, float[3] v";
  const char* recurrent = "float[5,2,3] x, float[2,16,3] w, float[2,16,4] r";
  const char* batch_first = "float[2,5,3] x, float[1,16,3] w, float[1,16,4] r";
  for (const Case& c : std::initializer_list<Case>{
           {9, normalized, "y = BatchNormalization(x, a, b, m, v)", "float32[2,3,4]"},
           {15, normalized, "z, y, c = BatchNormalization<training_mode = 1>(x, a, b, m, v)", "float32[3]"},
           {17, normalized, "y = LayerNormalization(x, a)", "float32[2,3,4]"},
           {13, normalized, "y = Dropout(x)", "float32[2,3,4]"},
           {14, recurrent, "y = LSTM<hidden_size = 4, direction = \"bidirectional\">(x, w, r)", "float32[5,2,2,4]"},
           {14, recurrent, "a, y = LSTM<hidden_size = 4, direction = \"bidirectional\">(x, w, r)", "float32[2,2,4]"},
           {14, recurrent, "a, b, y = LSTM<hidden_size = 4, direction = \"bidirectional\">(x, w, r)", "float32[2,2,4]"},
           {14, batch_first, "y = GRU<hidden_size = 4, layout = 1>(x, w, r)", "float32[2,5,1,4]"},
           {14, batch_first, "a, y = RNN<hidden_size = 4, layout = 1>(x, w, r)", "float32[2,1,4]"}}) {
    INFO(c.node);
    CHECK(types_in(c.inputs, c.node, "y", c.opset) == c.expected);
    CHECK(standard_type_in(c.inputs, c.node, "y", c.opset) == c.expected);
  }
}

TEST_CASE("free dimensions go through recurrent layers; rarer outputs are left to the standard") {
  const char* recurrent = "float[T,N,3] x, float[1,16,3] w, float[1,16,4] r";
  CHECK(types_in(recurrent, "y = LSTM<hidden_size = 4>(x, w, r)", "y") == "float32[T,1,N,4]");
  CHECK(types_in("float[2,3] x", "y, m = Dropout(x)", "m") == "?");
  CHECK(types_in("float[2,3] x, float[3] a", "y, m = LayerNormalization(x, a)", "m") == "?");
}
