// Feeds damaged models to the reader: it must give a sound graph that is written and read again as it is, or an Error.
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/base/error.h"
#include "core/ir/dump.h"
#include "core/ir/verify.h"
#include "core/onnx/io.h"
#include "core/onnx/tools.h"

using namespace mlopt;

namespace {

/// What mutation starts from: every kind of thing that a model holds.
constexpr const char* kSeeds[] = {
    R"(<ir_version: 10, opset_import: ["" : 21, "own" : 1], metadata_props: ["k": "v"]>
       main (float[N,4] x, bool c, seq(float) s) => (float[N,4] y, float[N,4] z)
       <float[4] w = {1, 2, 3, 4}, int64[2] i = {5, -6}, string[1] t = {"text"}, float[N,4] h> {
         [named] h = Add <k = 1, f = 0.5, s = "u", ks = [1, 2], fs = [0.5], ss = ["a", "b"]> (x, w)
         y = If (c) <then_branch = a () => (float[N,4] p) { p = Relu (h) },
                     else_branch = b () => (float[N,4] q) <float q0 = {0}> { q = own.f <v: tensor = int8[2] {1, 2}> (h, , q0) }>
         z = own.g (y)
       }
       <domain: "own", opset_import: ["" : 21]> g <alpha: float = 0.1, beta> (a) => (b) {
         b = LeakyRelu <alpha: float = @alpha> (a)
       })",
    R"(<ir_version: 3, opset_import: ["" : 7]> old (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> {
         y = Loop (x, x, w) <body = l (int64 k, bool c, float[2] v) => (bool d, float[2] u) { d = Not (c)  u = Add (v, x) }>
       })"};

std::string seed(unsigned number) { return write_model_bytes(parse_text(kSeeds[number % std::size(kSeeds)])); }

void require(bool holds) {
  if (!holds) std::abort();
}

void read_and_write(const std::string& bytes) {
  Model model = read_model_bytes(bytes, "/nowhere");
  require(verify(model).empty());
  dump(*model.graph);
  const std::string written = write_model_bytes(model);
  require(write_model_bytes(read_model_bytes(written, "/nowhere")) == written);
  inline_functions(model);
  require(verify(model).empty());
}

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned number) {
  if (size < 16) {
    const std::string model = seed(number);
    size = std::min(model.size(), most);
    std::memcpy(data, model.data(), size);
  }
  return LLVMFuzzerMutate(data, size, most);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    read_and_write({reinterpret_cast<const char*>(data), size});
  } catch (const Error& e) {
    require(e.code == Code::kBadInput || e.code == Code::kUnsupported);
  }
  return 0;
}
