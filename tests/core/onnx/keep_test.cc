// A model that is read and written without edits keeps everything, byte for byte where the order is protobuf's own.
#include "core/ir/verify.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"
#include "tests/support/message.h"

using namespace mlopt;
using namespace mlopt::test;

namespace {

std::string entry(uint32_t field, const std::string& key, const std::string& value) {
  return bytes(field, bytes(1, key) + bytes(2, value));
}

std::string dim(uint64_t size) { return bytes(1, number(1, size)); }

/// ValueInfoProto of float[N, size] with everything that can be said of it.
std::string info(const std::string& name, uint64_t size) {
  const std::string symbol = bytes(1, bytes(2, "N") + bytes(3, "DATA_BATCH"));  // a dimension with a denotation
  const std::string type = bytes(1, number(1, 1) + bytes(2, symbol + dim(size))) + bytes(6, "IMAGE");
  return bytes(1, name) + bytes(2, type) + bytes(3, "what it is") + entry(4, "k", "v") + number(100, 5);
}

/// Of uint8[1], as `tensor` is.
std::string weight_info(const std::string& name) {
  return bytes(1, name) + bytes(2, bytes(1, number(1, 2) + bytes(2, dim(1)))) + bytes(3, "doc");
}

std::string tensor(const std::string& name) {
  return number(1, 1) + number(2, 2) + bytes(8, name) + bytes(9, "x") + bytes(12, "doc") + entry(16, "k", "v") +
         number(100, 6);
}

std::string node(const std::string& input, const std::string& output) {
  const std::string attribute = bytes(1, "alpha") + mlopt::test::varint(2 << 3 | 5) + std::string("\0\0\0\x3f", 4) +
                                bytes(13, "doc") + number(20, 1) + number(100, 7);
  const std::string value = bytes(1, "value") + bytes(5, tensor("inner")) + number(20, 4);
  return bytes(1, input) + bytes(1, "") + bytes(2, output) + bytes(3, "name of " + output) + bytes(4, "Op") +
         bytes(5, attribute) + bytes(5, value) + bytes(6, "doc") + bytes(7, "own") + bytes(8, "overload") +
         entry(9, "k", "v") + bytes(10, bytes(1, "device 0")) + bytes(100, "?");
}

std::string sparse() { return bytes(15, bytes(1, tensor("s")) + bytes(2, number(1, 1) + number(2, 7)) + number(3, 9)); }

std::string graph() {
  return bytes(1, node("x", "h")) + bytes(1, node("h", "y")) + bytes(2, "main") + bytes(5, tensor("w")) +
         bytes(10, "doc") + bytes(11, info("x", 3)) + bytes(12, info("y", 4)) + bytes(13, weight_info("w")) +
         bytes(13, info("h", 5)) + bytes(14, bytes(1, "h") + entry(2, "SCALE_TENSOR", "w")) + sparse() +
         entry(16, "k", "v") + number(100, 8);
}

std::string function() {
  return bytes(1, "f") + bytes(4, "a") + bytes(5, "b") + bytes(6, "given") +
         bytes(7, bytes(1, "a") + bytes(2, "b") + bytes(4, "Op") +
                      bytes(5, bytes(1, "alpha") + number(20, 1) + bytes(21, "given")) + bytes(7, "own")) +
         bytes(8, "doc") + bytes(9, bytes(1, "own") + number(2, 3)) + bytes(10, "local") +
         bytes(11, bytes(1, "beta") + number(3, 4) + number(20, 2)) + bytes(12, info("b", 2)) + bytes(13, "second") +
         entry(14, "k", "v") + number(100, 9);
}

std::string whole_model() {
  return number(1, 10) + bytes(2, "producer") + bytes(3, "1.2") + bytes(4, "com.acme") + number(5, 77) +
         bytes(6, "doc") + bytes(7, graph()) + bytes(8, bytes(1, "") + number(2, 21)) +
         bytes(8, bytes(1, "own") + number(2, 1)) + entry(14, "k", "v") + bytes(20, bytes(2, bytes(2, "training"))) +
         bytes(25, function()) + bytes(26, bytes(1, "device 0")) + number(100, 10);
}

std::string rewritten(const std::string& model) { return write_model_bytes(read_model_bytes(model)); }

}  // namespace

TEST_CASE("everything in a model is kept") {
  const std::string model = whole_model();
  CHECK((rewritten(model) == model));
  const Model read = read_model_bytes(model);
  CHECK(verify(read).empty());
  CHECK((write_model_bytes(clone(read)) == model));
  CHECK(to_string(read.graph->find("x")->type) == "float32[N,3]");
  CHECK(read.graph->find("x")->metadata.size() == 1);
}

TEST_CASE("what was kept of a type gives way to a new one") {
  Model read = read_model_bytes(whole_model());
  read.graph->find("x")->type = Type::tensor(DType::kI8, Dims{2});
  const Model again = read_model_bytes(write_model_bytes(read));
  CHECK(to_string(again.graph->find("x")->type) == "int8[2]");
  CHECK(again.graph->find("x")->doc == "what it is");
}

TEST_CASE("types that the graph cannot express are kept") {
  const std::string opaque = bytes(2, bytes(7, bytes(1, "com.acme") + bytes(2, "Image")));
  const std::string newer = bytes(2, bytes(1, number(1, 90) + bytes(2, dim(2))));
  const std::string graph = bytes(1, bytes(1, "x") + bytes(1, "z") + bytes(2, "y") + bytes(4, "Op") + bytes(7, "own")) +
                            bytes(11, bytes(1, "x") + opaque) + bytes(11, bytes(1, "z") + newer) +
                            bytes(12, bytes(1, "y") + bytes(2, ""));
  const std::string model = number(1, 10) + bytes(7, graph) + bytes(8, bytes(1, "own") + number(2, 1));
  CHECK((rewritten(model) == model));
}

TEST_CASE("before IR version 4 initializers are listed as inputs, and are constants all the same") {
  const std::string graph = bytes(1, bytes(1, "x") + bytes(1, "w") + bytes(2, "y") + bytes(4, "Add")) +
                            bytes(5, number(1, 1) + number(2, 2) + bytes(8, "w") + bytes(9, "x")) +
                            bytes(11, info("x", 3)) + bytes(11, weight_info("w")) + bytes(12, info("y", 3));
  const std::string model = number(1, 3) + bytes(7, graph) + bytes(8, bytes(1, "") + number(2, 7));
  CHECK((rewritten(model) == model));
  const Model read = read_model_bytes(model);
  REQUIRE(read.graph->inputs().size() == 1);
  CHECK(read.graph->find("w")->known_constant());
  Model newer = read_model_bytes(model);
  newer.ir_version = 4;
  CHECK(read_model_bytes(write_model_bytes(newer)).graph->inputs().size() == 1);
}

TEST_CASE("domains that are used without being imported are imported") {
  const std::string graph = bytes(1, bytes(1, "x") + bytes(2, "h") + bytes(4, "Op") + bytes(7, "own")) +
                            bytes(1, bytes(1, "h") + bytes(2, "y") + bytes(4, "Neg")) + bytes(11, info("x", 3)) +
                            bytes(12, info("y", 3));
  const Model read = read_model_bytes(number(1, 7) + bytes(7, graph));
  CHECK(read.opset("own") == 1);
  CHECK(read.opset() == 14);
  CHECK(read.mended.size() == 2);
}

TEST_CASE("an attribute without a type is understood, and told of where types had to be said") {
  const auto read = [](uint64_t ir_version) {
    const std::string axis = bytes(5, bytes(1, "axis") + number(3, 1));
    return read_model_bytes(number(1, ir_version) + bytes(8, number(2, 7)) +
                            bytes(7, bytes(1, bytes(1, "x") + bytes(2, "y") + bytes(4, "Softmax") + axis) +
                                         bytes(11, info("x", 3)) + bytes(12, info("y", 3))));
  };
  const Model model = read(3);
  CHECK(std::get<int64_t>(model.graph->nodes()[0]->attr("axis")->value) == 1);
  REQUIRE(model.mended.size() == 1);
  CHECK(model.mended[0] == "attribute 'axis' of Softmax does not say its type");
  CHECK(read(1).mended.empty());
}

TEST_CASE("a body that gives an outer value gets an Identity, which is told of") {
  const Model model = parse_text(R"(
    <ir_version: 10, opset_import: ["" : 21]> main (bool c, float[2] x) => (float[2] y) {
      y = If (c) <then_branch = a () => (float[2] x) { h = Relu (x) }, else_branch = b () => (float[2] e) { e = Neg (x) }>
    })");
  CHECK(model.graph->nodes()[0]->bodies()[0]->outputs()[0]->producer->op == "Identity");
  REQUIRE(model.mended.size() == 1);
  CHECK(model.mended[0] == "output 'x' of a body is a value of the graph around it");
}

TEST_CASE("values of Constant nodes are known in all their forms") {
  const Model model = parse_text(R"(
    <ir_version: 10, opset_import: ["" : 21]> main () => (float y) {
      t = Constant <value = int8[2] {1, -2}> ()
      f = Constant <value_float = 0.5> ()
      i = Constant <value_int = 7> ()
      fs = Constant <value_floats = [0.5, 1.5]> ()
      is = Constant <value_ints = [7, 8, 9]> ()
      s = Constant <value_string = "a"> ()
      ss = Constant <value_strings = ["a", "b"]> ()
      y = Neg (f)
    })");
  const auto shape = [&](const char* name) { return to_string(model.graph->find(name)->type); };
  CHECK(shape("t") == "int8[2]");
  CHECK(shape("f") == "float32[]");
  CHECK(shape("i") == "int64[]");
  CHECK(shape("fs") == "float32[2]");
  CHECK(shape("is") == "int64[3]");
  CHECK(shape("s") == "string[]");
  CHECK(shape("ss") == "string[2]");
  CHECK(model.graph->find("is")->known_constant()->span<int64_t>()[2] == 9);
  CHECK_FALSE(model.graph->find("is")->is_initializer());
}
