#include "tests/support/catch.h"
#include "tests/support/infer.h"

using namespace mlopt::test;

// The standard's operators checked with onnx.shape_inference (1.23) for the integers, com.microsoft's with what
// onnxruntime gives.

TEST_CASE("numbers take the type of their zero point, or of what is asked for") {
  CHECK(types_in("float[N,3] x, float s, int8 z", "y = QuantizeLinear(x, s, z)", "y") == "int8[N,3]");
  CHECK(types_in("float[N,3] x, float s", "y = QuantizeLinear(x, s)", "y") == "uint8[N,3]");
  CHECK(types_in("int8[N,3] x, float s", "y = DequantizeLinear(x, s)", "y") == "float32[N,3]");
  CHECK(types_in("float[N,3] x", "y, s, z = DynamicQuantizeLinear(x)", "y") == "uint8[N,3]");
  CHECK(types_in("float[N,3] x", "y, s, z = DynamicQuantizeLinear(x)", "s") == "float32[]");
}

TEST_CASE("products and convolutions of integers have the shapes of those of floats") {
  const std::string steps = "float s, uint8 z, int8[4] wz, float[4] ws";
  CHECK(types_in("uint8[N,3,H,8] x, int8[4,3,3,3] w, " + steps, "y = QLinearConv(x, s, z, w, ws, wz, s, z)", "y") ==
        "uint8[N,4,H-2,6]");
  CHECK(types_in("uint8[N,2,5] a, int8[5,4] b, " + steps, "y = QLinearMatMul(a, s, z, b, ws, wz, s, z)", "y") ==
        "uint8[N,2,4]");
  CHECK(types_in("uint8[N,2,5] a, int8[5,4] b", "y = MatMulInteger(a, b)", "y") == "int32[N,2,4]");
  CHECK(types_in("uint8[N,3,H,8] x, int8[4,3,3,3] w", "y = ConvInteger<pads = [1, 1, 1, 1]>(x, w)", "y") ==
        "int32[N,4,H,8]");
  const std::string q = "com.microsoft.";
  CHECK(types_in("uint8[N,2,5] a, int8[5,4] b, " + steps, "y = " + q + "MatMulIntegerToFloat(a, b, s, ws)", "y") ==
        "float32[N,2,4]");
  CHECK(types_in("float[N,5] a, int8[5,4] b, " + steps, "y = " + q + "DynamicQuantizeMatMul(a, b, ws)", "y") ==
        "float32[N,4]");
  CHECK(types_in("float[N,3,5] a, uint8[4,1,8] b, float[4,1] s", "y = " + q + "MatMulNBits<K = 5, N = 4>(a, b, s)",
                 "y") == "float32[N,3,4]");
  CHECK(types_in("uint8[N,5] a, int8[4,5] b, " + steps, "y = " + q + "QGemm<transB = 1>(a, s, z, b, ws, wz, , s, z)",
                 "y") == "uint8[N,4]");
  CHECK(types_in("uint8[N,5] a, int8[5,4] b, " + steps, "y = " + q + "QGemm(a, s, z, b, ws, wz)", "y") ==
        "float32[N,4]");
}

TEST_CASE("operators between integers have the shapes of those between floats") {
  const std::string steps = "float s, int8 z", q = "y = com.microsoft.";
  CHECK(types_in("int8[N,3,1] a, int8[4] b, " + steps, q + "QLinearAdd(a, s, z, b, s, z, s, z)", "y") == "int8[N,3,4]");
  CHECK(types_in("int8[N,3] a, " + steps, q + "QLinearSigmoid(a, s, z, s, z)", "y") == "int8[N,3]");
  CHECK(types_in("int8[N,3,H,7] a, " + steps, q + "QLinearGlobalAveragePool(a, s, z, s, z)", "y") == "int8[N,3,1,1]");
  CHECK(types_in("int8[N,3] a, int8[N,4] b, " + steps, q + "QLinearConcat<axis = -1>(s, z, a, s, z, b, s, z)", "y") ==
        "int8[N,7]");
}

TEST_CASE("an LSTM of quantized weights, which are transposed, has the shapes of one of floats") {
  const std::string inputs =
      "float[T,N,3] x, int8[2,3,16] w, int8[2,4,16] r, float[2,32] b, float[2] ws, int8[2] wz, float[2] rs, int8[2] rz";
  const std::string lstm =
      " = com.microsoft.DynamicQuantizeLSTM<direction = \"bidirectional\", hidden_size = 4>"
      "(x, w, r, b, , , , , ws, wz, rs, rz)";
  CHECK(types_in(inputs, "y, h, c" + lstm, "y") == "float32[T,2,N,4]");
  CHECK(types_in(inputs, "y, h, c" + lstm, "c") == "float32[2,N,4]");
}
