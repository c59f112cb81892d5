// Damaged models end with an Error or as a sound graph, never with a crash.
#include "core/base/error.h"
#include "core/ir/verify.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"

using namespace mlopt;
using mlopt::test::contains;
using mlopt::test::error_of;

namespace {

std::string sound_model() {
  return write_model_bytes(parse_text(R"(
    <ir_version: 10, opset_import: ["" : 21, "own" : 1], metadata_props: ["k": "v"]>
    main (float[N,4] x, bool c) => (float[N,4] y) <float[4] w = {1, 2, 3, 4}, string[1] t = {"text"}> {
      [named] h = Add <k = 1, f = 0.5, s = "u", ks = [1, 2]> (x, w)
      y = If (c) <then_branch = a () => (float[N,4] p) { p = Relu (h) },
                  else_branch = b () => (float[N,4] q) { q = own.f <v: tensor = int8[2] {1, 2}> (h, , w) }>
    }
    <domain: "own", opset_import: ["" : 21]> f (a, b, c) => (d) { d = Neg (a) })"));
}

/// Reads, and if that succeeds looks at everything.
bool survives(const std::string& bytes) {
  try {
    const Model model = read_model_bytes(bytes);
    return verify(model).empty() && !write_model_bytes(model).empty();
  } catch (const Error& e) {
    return !e.message.empty() && (e.code == Code::kBadInput || e.code == Code::kUnsupported);
  }
}

}  // namespace

TEST_CASE("every truncation of a model is refused or read as something sound") {
  const std::string model = sound_model();
  REQUIRE(survives(model));
  for (size_t size = 0; size < model.size(); ++size) REQUIRE(survives(model.substr(0, size)));
  CHECK(contains(error_of([&] { read_model_bytes(model.substr(0, model.size() / 2)); }), "cut short"));
}

TEST_CASE("every flip of a bit is refused or read as something sound") {
  std::string model = sound_model();
  for (size_t i = 0; i < model.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      model[i] = static_cast<char>(model[i] ^ (1 << bit));
      REQUIRE(survives(model));
      model[i] = static_cast<char>(model[i] ^ (1 << bit));
    }
  }
}

TEST_CASE("what is wrong is named") {
  const auto error = [](const std::string& body) {
    return error_of([&] { parse_text("<ir_version: 10, opset_import: [\"\" : 21]> main " + body); });
  };
  CHECK(contains(error("(float x, float x) => (float x) { }"), "same name, 'x'"));
  CHECK(contains(error("(float x) => (float y) { y = Neg (x)  y = Neg (x) }"), "same name, 'y'"));
  CHECK(contains(error("(float x) => (float y) { x = Neg (x)  y = Neg (x) }"), "same name, 'x'"));
  CHECK(contains(error("(float x) => (float y) { y = Neg (z) }"), "'z' is defined nowhere"));
  CHECK(contains(error("(float x) => (float z) { y = Neg (x) }"), "'z' is defined nowhere"));
  CHECK(contains(error("(float x) => (float y) <float[2] w = {1, 2, 3}> { y = Neg (x) }"), "do not fit the shape"));
  CHECK(contains(error("(float x) => (float y) { y = Neg <a = 1, a = 2> (x) }"), "given twice"));
  for (const char* text :
       {"<html>404</html>", "<ir_version: 10, opset_import: [\"\" : 21]> g (float x) => (float y) {}"})
    CHECK(contains(error_of([&] { read_model_bytes(text); }), "text, not an ONNX model"));
  CHECK(contains(error_of([] { read_model_bytes(""); }), "empty"));
}

TEST_CASE("an attribute that holds something else than its type says is refused") {
  const std::string model = write_model_bytes(parse_text(R"(
    <ir_version: 10, opset_import: ["" : 21, "own" : 1]>
    main (float[2] x) => (float[2] y) { y = own.f <k = 5> (x) })"));
  const std::string whole = "\x18\x05\xa0\x01\x02";  // i = 5, type = INT
  const size_t at = model.find(whole);
  REQUIRE(at != std::string::npos);
  for (const char type : {1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}) {
    std::string wrong = model;
    wrong[at + 4] = type;
    CHECK(contains(error_of([&] { read_model_bytes(wrong); }), "attribute 'k' does not hold"));
  }
}
