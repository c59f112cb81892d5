#include "core/base/file.h"
#include "core/onnx/io.h"
#include "core/report/json.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/program.h"
#include "tests/support/rewrite.h"
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
  REQUIRE(fuse({"--fix", "S=N"}).status == 0);
  CHECK(to_string(read_model(out).graph->inputs()[0]->type) == "float32[N,N,4]");
  CHECK(fuse({"--fix", "K=3"}).err.find("'K'") != std::string::npos);
  for (const char* wrong : {"S", "S=0", "=2", "S=x"}) CHECK(fuse({"--fix", wrong}).status == 2);
  CHECK(fuse({"--batch", "0"}).status == 2);
  for (const char* list : {"--fix", "--only", "--passes"}) CHECK(fuse({list, ""}).status == 2);
  CHECK(fuse({"--fix", "N=99999999999"}).err.find(": --fix") != std::string::npos);
  CHECK(fuse({"--fix", "S=6", "--fix", "S=7"}).err.find("'S' is given a size twice") != std::string::npos);
  CHECK(fuse({"--fix", "N=3", "--batch", "2"}).err.find("two sizes: --batch") != std::string::npos);
  CHECK(fuse({"--fix", "N=2", "--batch", "2"}).status == 0);
}

TEST_CASE("sizes that are most likely equal are named, as --fix takes them") {
  const test::TempDir folder;
  const std::string model = test::write_text_model(folder, "m.onnx", R"(<ir_version: 10, opset_import: ["" : 21]>
    g (float[N,S] x, float[M,T] m, float[K,4] other) => (float[A,B] y, float[K,4] z) {
      y = Mul (x, m)
      z = Relu (other)
    })"),
                    out = folder / "o.onnx";
  const auto told = run_mlopt({"fuse", model, "-o", out, "--no-bench"});
  CHECK(told.out.find("--fix M=N,S=T\n") != std::string::npos);
  const auto fixed = run_mlopt({"fuse", model, "-o", out, "--no-bench", "--fix", "M=N,S=T"});
  CHECK(fixed.status == 0);
  CHECK(fixed.out.find("--fix") == std::string::npos);
}

TEST_CASE("levels choose passes, and targets what these may write") {
  const test::TempDir folder;
  const std::string model = test::write_text_model(folder, "m.onnx", R"(<ir_version: 10, opset_import: ["" : 24]>
    g (float[N,4] x) => (float[N,4] y) {
      a = Identity (x)
      s = Sigmoid (a)
      y = Mul (a, s)
    })"),
                    out = folder / "o.onnx";
  const auto operators = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"fuse", model, "-o", out, "--no-bench"});
    REQUIRE(run_mlopt(options).status == 0);
    return test::operators(*read_model(out).graph);
  };
  CHECK(operators({"-O0"}) == "Identity Sigmoid Mul");
  CHECK(operators({"-O1"}) == "Sigmoid Mul");
  CHECK(operators({}) == "Swish");
  CHECK(operators({"-O", "2"}) == "Swish");
  CHECK(operators({"--target", "ort"}) == "QuickGelu");
  CHECK(operators({"--target", "ort", "-O2"}) == "Swish");
  CHECK(operators({"--target", "openvino"}) == "Sigmoid Mul");
  CHECK(operators({"--target", "tensorrt"}) == "Sigmoid Mul");
  CHECK(run_mlopt({"fuse", model, "-o", out, "-O4"}).status == 2);
  CHECK(run_mlopt({"fuse", model, "-o", out, "--target", "openvin"}).status == 2);
}

TEST_CASE("what the target cannot run is not verified, wherever it comes from") {
  const test::TempDir folder;
  const std::string model = test::write_text_model(folder, "m.onnx",
                                                   R"(<ir_version: 10, opset_import: ["" : 21, "com.microsoft" : 1]>
    g (float[N,4] x) => (float[N,4] y) { y = com.microsoft.QuickGelu (x) })"),
                    out = folder / "o.onnx";
  const auto fuse = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"fuse", model, "-o", out, "--no-bench", "--strict", "-O0"});
    return run_mlopt(options);
  };
  CHECK(fuse({}).status == 0);
  CHECK(fuse({"--target", "ort"}).status == 0);
  for (const std::string& target : {std::string("onnx"), std::string("tensorrt")}) {
    const test::Outcome done = fuse({"--target", target});
    CHECK(done.status == 1);
    CHECK(done.err.find(target + " cannot run com.microsoft.QuickGelu") != std::string::npos);
    CHECK(done.out.find("not verified: " + target + " cannot run com.microsoft.QuickGelu") != std::string::npos);
  }
}

TEST_CASE("fuse cuts out a part, and stores its weights in fewer bytes for good") {
  const test::TempDir folder;
  const std::string model = test::write_text_model(folder, "m.onnx", test::kTwoLayers), out = folder / "o.onnx";
  const Model whole = read_model(model);
  const std::string middle = whole.graph->nodes()[0]->output(0)->name;
  const test::Outcome cut = run_mlopt({"fuse", model, "-o", out, "--no-bench", "--extract", ".." + middle});
  REQUIRE(cut.status == 0);
  CHECK(cut.out.find("the source is the part .." + middle + " of " + model) != std::string::npos);
  const Model part = read_model(out);
  CHECK(part.graph->node_count() < whole.graph->node_count());
  CHECK(part.graph->outputs()[0]->name == middle);
  CHECK(run_mlopt({"fuse", model, "-o", out, "--extract", middle}).status == 2);
  CHECK(run_mlopt({"fuse", model, "-o", out, "--extract", "..nowhere"}).err.find("'nowhere'") != std::string::npos);
}

TEST_CASE("fuse stores weights in float16, and its second run leaves them so") {
  const test::TempDir folder;
  std::string numbers = "0.1";
  for (int i = 1; i < 256; ++i) numbers += ", " + std::to_string((i * 37 % 101) / 100.0);
  const std::string model = test::write_text_model(
      folder, "m.onnx",
      "<ir_version: 10, opset_import: [\"\" : 21]> g (float[N,16] x) => (float[N,16] y) <float[16,16] w = {" + numbers +
          "}> { y = MatMul (x, w) }");
  const std::string once = folder / "a.onnx", twice = folder / "b.onnx";
  REQUIRE(run_mlopt({"fuse", model, "-o", once, "--no-bench", "--store", "fp16", "--min-sqnr", "50"}).status == 0);
  CHECK(test::operators(*read_model(once).graph) == "Cast MatMul");
  REQUIRE(run_mlopt({"fuse", once, "-o", twice, "--no-bench"}).status == 0);
  CHECK(test::operators(*read_model(twice).graph) == "Cast MatMul");
  CHECK(run_mlopt({"fuse", model, "-o", once, "--store", "fp8"}).status == 2);
  const std::string old = test::write_text_model(
      folder, "old.onnx",
      "<ir_version: 10, opset_import: [\"\" : 5]> g (float[N,16] x) => (float[N,16] y) <float[16,16] w = {" + numbers +
          "}> { y = MatMul (x, w) }");
  CHECK(run_mlopt({"fuse", old, "-o", once, "--store", "fp16"}).err.find("fp16 needs opset 6") != std::string::npos);
  CHECK(run_mlopt({"fuse", old, "-o", once, "--no-bench", "--store", "fp16", "--opset", "6"}).status == 0);
  REQUIRE(run_mlopt({"fuse", model, "-o", once, "--no-bench", "--low-rank", "60%"}).status == 0);
  CHECK(test::operators(*read_model(once).graph) == "MatMul MatMul");
  CHECK(run_mlopt({"fuse", model, "-o", once, "--low-rank", "0%"}).status == 2);
}

TEST_CASE("what may grow by folding grows once, however often it is fused") {
  const test::TempDir folder;
  // Each table adds 400 bytes to 51 KB, of which a hundredth may be added.
  std::string tables, sum = "h0 = MatMul (x, w) ";
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i), next = std::to_string(i + 1);
    sum += "t" + n + " = Range (from" + n + ", to" + n + ", one)  f" + n + " = Cast <to = 1> (t" + n + ")  u" + n +
           " = Reshape (f" + n + ", all)  p" + n + " = Tanh (h" + n + ")  h" + next + " = Mul (p" + n + ", u" + n +
           ") ";
    tables += ", int64 from" + n + " = {" + n + "}, int64 to" + n + " = {" + std::to_string(100 + i) + "}";
  }
  std::string numbers = "0.5";
  for (int i = 1; i < 100 * 128; ++i) numbers += ", " + std::to_string((i * 37 % 101) / 100.0);
  const std::string model = test::write_text_model(
      folder, "m.onnx",
      "<ir_version: 10, opset_import: [\"\" : 21]> g (float[N,128] x) => (float[N,100] h4) <float[128,100] w = {" +
          numbers + "}, int64 one = {1}, int64[1] all = {-1}" + tables + "> { " + sum + " }");
  const std::string once = folder / "a.onnx", twice = folder / "b.onnx";
  REQUIRE(run_mlopt({"fuse", model, "-o", once, "--no-bench"}).status == 0);
  REQUIRE(run_mlopt({"fuse", once, "-o", twice, "--no-bench"}).status == 0);
  CHECK(read_file(once) == read_file(twice));
}

TEST_CASE("a pass that changes the outputs is found with its node, undone and named; the others go on") {
  // In float32 x + 1e8 - 1e8 is a multiple of 8; the merged sum is x.
  const test::TempDir folder;
  const std::string model = test::write_text_model(folder, "m.onnx", R"(<ir_version: 10, opset_import: ["" : 21]>
    g (float[N,4] x) => (float[N,4] y, float[N,4] z)
    <float[1] a = {1e8}, float[1] b = {-1e8}, float[1] c = {2.0}, float[1] d = {3.0}> {
      p = Identity (x)
      [good] e = Add (p, c)
      [fine] z = Add (e, d)
      [early] s = Add (p, a)
      [late] y = Add (s, b)
    })"),
                    out = folder / "o.onnx";
  Model named = read_model(model);
  for (Node* node : named.graph->nodes())
    if (node->name == "late") node->name = "layers[3]/late";
  write_model(named, model);
  const auto fuse = [&](const char* option) {
    const test::Outcome outcome = run_mlopt({"fuse", model, "-o", out, "--no-bench", "--json", "-", option});
    REQUIRE(outcome.status == 0);
    return Json::parse(outcome.out);
  };
  for (const char* option : {"--paranoid", "--bisect"}) {
    INFO(option);
    const Json report = fuse(option);
    REQUIRE(report.find("undone")->items().size() == 1);
    const Json& undone = report.find("undone")->items()[0];
    CHECK(undone.find("pass")->string() == "merge_constant_arithmetic");
    CHECK(undone.find("node")->string() == "layers[3]/late");
    CHECK(test::operators(*read_model(out).graph) == "Add Add Add Add");
  }
  const test::Outcome shown =
      run_mlopt({"fuse", model, "-o", out, "--no-bench", "--diff", "--html", folder / "p.html"});
  CHECK(shown.out.find("= Identity(x)") != std::string::npos);
  CHECK(read_file(folder / "p.html").find("<tr class=\"removed\">") != std::string::npos);
  const Json alone = fuse("-O1");
  CHECK_FALSE(alone.find("undone"));
  REQUIRE(run_mlopt({"fuse", model, "-o", out, "--no-bench"}).status == 0);
  CHECK(read_model(out).graph->node_count() < 4);
}

TEST_CASE("what is rounded to bytes may be rounded the other way after a pass") {
  const test::TempDir folder;
  const std::string model = test::write_text_model(folder, "m.onnx",
                                                   R"(<ir_version: 10, opset_import: ["" : 21, "com.microsoft" : 1]>
    g (float[512,16] x) => (float[512,2] y)
    <float[1] a = {1000.0}, float[1] b = {-1000.0}, float[2] scales = {0.1, 0.2},
     uint8[2,1,8] codes = {1, 35, 69, 103, 137, 171, 205, 239, 16, 50, 84, 118, 152, 186, 220, 254}> {
      s = Add (x, a)
      t = Add (s, b)
      y = com.microsoft.MatMulNBits <N = 2, K = 16, bits = 4, block_size = 16, accuracy_level = 4> (t, codes, scales)
    })"),
                    out = folder / "o.onnx";
  const test::Outcome outcome = run_mlopt({"fuse", model, "-o", out, "--no-bench", "--paranoid"});
  REQUIRE(outcome.status == 0);
  INFO(outcome.err);
  CHECK(test::operators(*read_model(out).graph).find("Add Add") == std::string::npos);
}

TEST_CASE("fuse frees axes of inputs where the model bears that") {
  const test::TempDir folder;
  const std::string out = folder / "o.onnx";
  const auto fuse = [&](const std::string& nodes, const std::string& axis) {
    const std::string model = test::write_text_model(
        folder, "m.onnx",
        "<ir_version: 10, opset_import: [\"\" : 21]> g (float[1,3,4] x) => (float[1,12] y) <int64[2] t = {1, 12}, "
        "float[1,3,4] w = {1,2,3,4,5,6,7,8,9,10,11,12}> {" +
            nodes + "}");
    return run_mlopt({"fuse", model, "-o", out, "--no-bench", "--strict", "--dynamic", axis});
  };
  REQUIRE(fuse("a = Add (x, w)  y = Reshape (a, t)", "x=0").status == 0);
  CHECK(to_string(read_model(out).graph->inputs()[0]->type) == "float32[batch,3,4]");
  CHECK(to_string(read_model(out).graph->outputs()[0]->type) == "float32[batch,12]");
  // A constant of one row for each of the axis; numbers of different samples mixed.
  CHECK(fuse("a = Add (x, w)  y = Reshape (a, t)", "x=1").status == 4);
  CHECK(
      fuse("b = Concat <axis = 0> (x, w)  s = ReduceSum <keepdims = 1> (b)  r = Reshape (x, t)  y = Add (r, s)", "x=0")
          .err.find("hold the axis to its size") != std::string::npos);
  CHECK(fuse("y = Reshape (x, t)", "x").status == 2);
  CHECK(fuse("y = Reshape (x, t)", "z=0").status == 2);
}

TEST_CASE("outputs whose sizes depend on data cannot show that an axis may be free") {
  const test::TempDir folder;
  const std::string model = test::write_text_model(folder, "m.onnx",
                                                   R"(<ir_version: 10, opset_import: ["" : 21]>
    g (float[1,500] x) => (int64[2,K] z) <float half = {0.5}> { d = Sub (x, half)  r = Relu (d)  z = NonZero (r) })");
  const test::Outcome outcome = run_mlopt({"fuse", model, "-o", folder / "o.onnx", "--no-bench", "--dynamic", "x=0"});
  INFO(outcome.err);
  CHECK(outcome.status == 4);
  CHECK(outcome.err.find("sizes that depend on data") != std::string::npos);
}

TEST_CASE("axes that are freed together share a name, which is not that of what is free already") {
  const test::TempDir folder;
  const std::string out = folder / "o.onnx";
  const auto inputs = [&](const std::string& rows, const std::string& axes) {
    const std::string model =
        test::write_text_model(folder, "m.onnx",
                               "<ir_version: 10, opset_import: [\"\" : 21]> g (float[" + rows +
                                   ",4] x, float[1,4] q, float[1,4] p) => (float[1,4] z) "
                                   "{ m = ReduceMax <keepdims = 0> (x)  s = Add (q, p)  z = Add (s, m) }");
    const test::Outcome outcome = run_mlopt({"fuse", model, "-o", out, "--no-bench", "--dynamic", axes});
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    const Model made = read_model(out);
    std::string types;
    for (const Value* v : made.graph->inputs()) types += to_string(v->type) + " ";
    return types;
  };
  CHECK(inputs("batch", "q=0,p=0") == "float32[batch,4] float32[batch_1,4] float32[batch_1,4] ");
  CHECK(inputs("3", "q=0,p=0") == "float32[3,4] float32[batch,4] float32[batch,4] ");
}
