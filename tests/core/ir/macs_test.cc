#include "core/ir/macs.h"

#include "core/ir/infer.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"

using namespace mlopt;

namespace {

/// Of a model whose only node is `node`, over the given inputs.
MacTotal count(const std::string& inputs, const std::string& node, const std::string& output) {
  Model model = parse_text("<ir_version: 10, opset_import: [\"\" : 21, \"com.microsoft\" : 1]> g (" + inputs +
                           ") => (" + output + " y) { y = " + node + " }");
  infer(model);
  return total_macs(model);
}

}  // namespace

TEST_CASE("multiply-accumulates follow from the shapes") {
  CHECK(count("float[2,8,10,10] x, float[16,8,3,3] w", "Conv (x, w)", "float[2,16,8,8]").macs ==
        2 * 16 * 8 * 8 * 8 * 9);
  CHECK(count("float[1,8,10,10] x, float[8,1,3,3] w", "Conv <group = 8> (x, w)", "float[1,8,8,8]").macs == 8 * 64 * 9);
  CHECK(count("float[1,4,5,5] x, float[4,6,2,2] w", "ConvTranspose (x, w)", "float[1,6,6,6]").macs == 4 * 25 * 6 * 4);
  CHECK(count("float[3,5,7] a, float[3,7,2] b", "MatMul (a, b)", "float[3,5,2]").macs == 3 * 5 * 2 * 7);
  CHECK(count("float[7,5] a, float[7,2] b", "Gemm <transA = 1> (a, b)", "float[5,2]").macs == 5 * 2 * 7);
  CHECK(count("float[6,2,3] x, float[1,16,3] w, float[1,16,4] r", "LSTM <hidden_size = 4> (x, w, r)", "float[6,1,2,4]")
            .macs == 6 * 2 * 4 * 4 * (3 + 4));
  CHECK(count("float[2,3] a, float[3,4] b", "Einsum <equation = \"ij,jk->ik\"> (a, b)", "float[2,4]").macs == 24);
  CHECK(count("float[2,3] a, float[2,3] b", "Add (a, b)", "float[2,3]").macs == 0);
}

TEST_CASE("what cannot be counted is told, never guessed") {
  const MacTotal total = count("float[N,7] a, float[7,2] b", "MatMul (a, b)", "float[N,2]");
  CHECK(total.macs == 0);
  CHECK(total.unknown_nodes == 1);
  CHECK(count("float[4611686018427387904,4] a, float[4,4] b", "MatMul (a, b)", "float[4611686018427387904,4]")
            .unknown_nodes == 1);
  // No input of 3 steps fits a kernel of 5.
  CHECK(count("float[1,2,3] x, float[4,2,5] w", "Conv (x, w)", "float[1,4,M]").unknown_nodes == 1);
}

TEST_CASE("bodies count as often as they run, where that is known") {
  const auto loop = [](const std::string& most, const std::string& start, const std::string& goes_on) {
    Model model = parse_text(
        "<ir_version: 10, opset_import: [\"\" : 21]> g (float[4,4] x, bool start, int64 n) => "
        "(float[4,4] y) <int64 five = {5}, bool yes = {1}, float[4,4] w = {" +
        std::string("0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0") + "}> { y = Loop (" + most + ", " + start +
        ", x) <body = b (int64 i, bool on, float[4,4] a) => (bool next, float[4,4] c) "
        "{ next = " +
        goes_on + " c = MatMul (a, w) }> }");
    infer(model);
    return total_macs(model).macs;
  };
  CHECK(loop("five", "yes", "Identity (on)") == 5 * 64);
  CHECK(loop("five", "", "Identity (yes)") == 5 * 64);
  CHECK(loop("n", "yes", "Identity (on)") == 64);
  CHECK(loop("five", "start", "Identity (on)") == 64);
  CHECK(loop("five", "yes", "Not (on)") == 64);
  Model scan = parse_text(
      "<ir_version: 10, opset_import: [\"\" : 21]> g (float[2,7,3] x) => (float[2,7,4] y) "
      "<float[3,4] w = {0,0,0,0,0,0,0,0,0,0,0,0}> { y = Scan (x) <num_scan_inputs = 1, scan_input_axes = [1], "
      "scan_output_axes = [1], body = b (float[2,3] a) => (float[2,4] c) { c = MatMul (a, w) }> }");
  infer(scan);
  CHECK(total_macs(scan).macs == 7 * 2 * 3 * 4);
}
