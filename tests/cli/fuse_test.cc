#include "core/onnx/io.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/program.h"
#include "tests/support/temp_dir.h"

using namespace mlopt;
using test::run_mlopt;

TEST_CASE("fuse fixes free dimensions, and folds what they decide") {
  const test::TempDir folder;
  const std::string model = test::write_text_model(folder, "m.onnx", R"(<ir_version: 10, opset_import: ["" : 21]>
    flat (float[N,S,4] x) => (float[N,M] y) <int64[1] rest = {-1}, int64[1] from = {0}, int64[1] to = {1}> {
      s = Shape (x)
      n = Slice (s, from, to)
      shape = Concat <axis = 0> (n, rest)
      y = Reshape (x, shape)
    })"),
                    out = folder / "o.onnx";
  const auto fuse = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"fuse", model, "-o", out, "--no-bench"});
    return run_mlopt(options);
  };
  REQUIRE(fuse({"--fix", "S=6", "--batch", "2"}).status == 0);
  const Model fixed = read_model(out);
  CHECK(to_string(fixed.graph->inputs()[0]->type) == "float32[2,6,4]");
  CHECK(to_string(fixed.graph->outputs()[0]->type) == "float32[2,24]");
  CHECK(fixed.graph->node_count() == 1);
  REQUIRE(fuse({"--fix", "N=3"}).status == 0);
  CHECK(to_string(read_model(out).graph->inputs()[0]->type) == "float32[3,S,4]");
  CHECK(fuse({"--fix", "K=3"}).err.find("'K'") != std::string::npos);
  for (const char* wrong : {"S", "S=0", "=2", "S=x"}) CHECK(fuse({"--fix", wrong}).status == 2);
  CHECK(fuse({"--batch", "0"}).status == 2);
}
